/** The theme of the page, for what is drawn with its colours. */
import { useSyncExternalStore } from "react";

export function useTheme(): string {
  return useSyncExternalStore(
    (listener) => {
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
      return () => observer.disconnect();
    },
    () => document.documentElement.dataset["theme"] ?? "",
  );
}
