//! Formats rows of cells as lines with aligned columns.

/// Pads each cell to its column's width, except the last cell of a row.
pub fn aligned<const COLUMNS: usize>(rows: impl Iterator<Item = [String; COLUMNS]>) -> String {
    let rows: Vec<_> = rows.collect();
    let mut widths = [0; COLUMNS];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<_> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the line below a list that lacks `left_out` entries, or nothing if it lacks none.
pub fn and_more(left_out: u64) -> String {
    match left_out {
        0 => String::new(),
        more => format!("… and {more} more\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["PID", "NAME"], ["7", "gears"], ["123456", "x"]];
        let text = aligned(rows.into_iter().map(|row| row.map(str::to_owned)));
        assert_eq!(text, "PID     NAME\n7       gears\n123456  x\n");
    }
}
