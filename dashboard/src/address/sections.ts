/** The pages that are always there. Pure. */

export interface Section {
  readonly name: string;
  readonly href: string;
  /** Pressed after `g`. */
  readonly key: string;
}

export const sections: readonly Section[] = [
  { name: "Overview", href: "/", key: "o" },
  { name: "Apps", href: "/apps", key: "a" },
  { name: "Clusters", href: "/clusters", key: "c" },
  { name: "Sources", href: "/sources", key: "s" },
  { name: "Events", href: "/events", key: "e" },
];
