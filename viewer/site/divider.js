// The divider between the list of commands and the panes, which the pointer drags and arrow keys move. Where it is stays for this
// tab of the browser, also when the page is loaded again.

const KEY = "gapii-list-percent";
// Part of the page that the list has, in percent.
const [LEAST, MOST] = [15, 85];
// Percent of a step of an arrow key.
const STEP = 2;

// Lets `divider` change the width of `list`, which is on its left.
export function divide(divider, list) {
  const set = (percent) => {
    const own = Math.min(MOST, Math.max(LEAST, percent));
    list.style.flexBasis = `${own}%`;
    divider.setAttribute("aria-valuenow", String(Math.round(own)));
    sessionStorage.setItem(KEY, String(own));
  };
  const percentAt = (x) => {
    const { left, width } = list.parentElement.getBoundingClientRect();
    return ((x - left) / width) * 100;
  };
  const now = () => percentAt(divider.getBoundingClientRect().left);
  divider.setAttribute("aria-valuemin", LEAST);
  divider.setAttribute("aria-valuemax", MOST);
  divider.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    divider.setPointerCapture(event.pointerId);
    const drag = (move) => set(percentAt(move.clientX));
    const release = () => divider.removeEventListener("pointermove", drag);
    divider.addEventListener("pointermove", drag);
    for (const end of ["pointerup", "pointercancel"]) divider.addEventListener(end, release, { once: true });
  });
  divider.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: now() - STEP, ArrowRight: now() + STEP, Home: LEAST, End: MOST }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(to);
  });
  const kept = Number(sessionStorage.getItem(KEY) ?? NaN);
  if (Number.isFinite(kept)) set(kept);
  else divider.setAttribute("aria-valuenow", String(Math.round(now())));
}
