//! Files with the content of the draw framebuffer, and resources, after or before one command. Nothing is played afterwards. What
//! cannot be shown is noted in the report; a file that cannot be written ends the replay with an error.

use std::io::Write;

use super::depth;
use super::fetch::Values;
use super::folder::Folder;
use super::framebuffer;
use super::gl::Gl;
use super::picture::write_png;
use super::resources;
use crate::call::Call;

/// What to write after one command, or before it. Nothing is played after that.
pub struct At {
    /// `seq` of the command.
    pub seq: u64,
    /// Before the command, which is not played then.
    pub is_before: bool,
    /// Write pictures of the colour attachments.
    pub colors: bool,
    /// Write the depth attachment.
    pub depth: bool,
    /// Write the stencil attachment.
    pub stencil: bool,
    /// Write every resource of the context's share group.
    pub resources: bool,
    /// Folder for the files.
    pub folder: Folder,
}

impl At {
    /// Writes the files. The error names a file that can't be written; what can't be shown is only
    /// noted in the report.
    pub fn take(&self, call: &mut Call<'_, '_>) -> Result<(), String> {
        if self.colors {
            self.take_colors(call)?;
        }
        let mut wanted = Vec::new();
        if self.depth {
            wanted.push(("depth", Values::Depth));
        }
        if self.stencil {
            wanted.push(("stencil", Values::Stencil));
        }
        if !wanted.is_empty() {
            self.take_depth(call, &wanted)?;
        }
        match self.resources {
            true => resources::write(call, &self.folder),
            false => Ok(()),
        }
    }

    fn take_colors(&self, call: &mut Call<'_, '_>) -> Result<(), String> {
        let driver = &call.parts.driver;
        let pictures = Gl::current(driver).and_then(|gl| framebuffer::colors(&gl));
        let pictures = match pictures {
            Ok(pictures) => pictures,
            Err(why) => {
                call.parts.tally.note(format!("no picture at {}: {why}", self.seq));
                return Ok(());
            }
        };
        for framebuffer::Color { number, conversion, picture } in pictures {
            let name = format!("at-{:06}-color{number}.png", self.seq);
            if let (Ok(_), Some(how)) = (&picture, conversion) {
                call.parts.tally.note(format!("{name} is converted: {how}"));
            }
            match picture {
                Err(why) => call.parts.tally.note(format!("no {name}: {why}")),
                Ok(picture) => {
                    self.folder.write(name, move |out: &mut dyn Write| picture.write_png(out))?
                }
            }
        }
        Ok(())
    }

    fn take_depth(
        &self,
        call: &mut Call<'_, '_>,
        wanted: &[(&'static str, Values)],
    ) -> Result<(), String> {
        for (what, taken) in depth::take(&call.parts.driver, wanted) {
            let name = format!("at-{:06}-{what}.png", self.seq);
            let bits = match what {
                "depth" => png::BitDepth::Sixteen,
                _ => png::BitDepth::Eight,
            };
            match taken {
                Err(why) => call.parts.tally.note(format!("no {name}: {why}")),
                Ok(([width, height], samples)) => self.folder.write(name, move |out| {
                    write_png(out, width, height, png::ColorType::Grayscale, bits, &samples)
                })?,
            }
        }
        Ok(())
    }
}
