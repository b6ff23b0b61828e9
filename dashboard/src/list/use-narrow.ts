/** Whether the page is as narrow as on a phone. */
import { useSyncExternalStore } from "react";

/** As in the styles. */
const query = "(max-width: 48rem)";

export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

function subscribe(changed: () => void): () => void {
  const list = matchMedia(query);
  list.addEventListener("change", changed);
  return () => list.removeEventListener("change", changed);
}
