// Dragging by mouse, pen or finger. A press that does not move is a tap.

const FAR = 6; // pixels

/** Follows a press until it is let go. `over` and `drop` get the element under it that accepts drops, or null. */
export function follow(event, { ghost, tap, over, drop, end }) {
  if (event.button !== 0) return;
  const { pointerId, clientX: startX, clientY: startY } = event;
  let image = null;
  let target = null;

  const move = (e) => {
    if (e.pointerId !== pointerId) return;
    if (!image) {
      if (!ghost || Math.hypot(e.clientX - startX, e.clientY - startY) < FAR) return;
      image = ghost();
      if (!image) return;
      image.classList.add("ghost", e.pointerType === "touch" ? "under-finger" : "under-mouse");
      document.body.append(image);
      document.body.classList.add("dragging");
    }
    e.preventDefault();
    image.style.transform = `translate(${e.clientX}px, ${e.clientY}px)`;
    target = document.elementsFromPoint(e.clientX, e.clientY).find((element) => element.dataset?.drop) ?? null;
    over?.(target);
  };
  const stop = () => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", up);
    window.removeEventListener("pointercancel", stop);
    window.removeEventListener("keydown", key, true);
    image?.remove();
    document.body.classList.remove("dragging");
    over?.(null);
    end?.();
  };
  const up = (e) => {
    if (e.pointerId !== pointerId) return;
    const [was, at] = [image, target];
    stop();
    if (was) drop?.(at);
    else tap?.();
  };
  const key = (e) => {
    if (e.key !== "Escape" || !image) return;
    e.stopPropagation();
    stop();
  };
  window.addEventListener("pointermove", move, { passive: false });
  window.addEventListener("pointerup", up);
  window.addEventListener("pointercancel", stop);
  window.addEventListener("keydown", key, true);
}
