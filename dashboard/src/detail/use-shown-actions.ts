/** The actions of the object whose page is shown, for parts that stand outside of it. */
import type { Action } from "@flotilla/shared/dashboard";
import { useQueryClient } from "@tanstack/react-query";

/** The actions in the details that the page has read; empty where it shows no object. */
export function useShownActions(): readonly Action[] {
  const read = useQueryClient().getQueriesData<{ readonly actions?: readonly Action[] }>({
    queryKey: ["detail"],
    type: "active",
  });
  return read.flatMap(([, detail]) => detail?.actions ?? []);
}
