/**
 * Attributes of an element that scrolls and that nothing in it makes reachable with the keyboard: the tab stop with which one can
 * scroll it (WCAG 2.1.1; axe: `scrollable-region-focusable`).
 */
export const scrollRegion = { tabIndex: 0 } as const;
