/** The keys of a list of tabs, as the ARIA Authoring Practices have them. Pure. */

/** The index of the tab that gets the focus; undefined: the key is none of a list of tabs. `focused`: -1 for none. */
export function tabAfter(key: string, focused: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowRight":
      return (focused + 1) % count;
    case "ArrowLeft":
      return (Math.max(0, focused) + count - 1) % count;
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}
