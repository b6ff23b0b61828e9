/** A part of what a page shows that is in its address, so that a link shows the same. */
import { useLocation, useSearch } from "wouter";

export function useParameter(
  name: string,
  absent: string,
): readonly [string, (value: string) => void] {
  const value = new URLSearchParams(useSearch()).get(name) ?? absent;
  const [, navigate] = useLocation();
  return [
    value,
    (next) => {
      // The parameters of the address as it is now: another parameter may have been set since the last rendering.
      const parameters = new URLSearchParams(location.search);
      if (next === absent) parameters.delete(name);
      else parameters.set(name, next);
      const query = parameters.toString();
      navigate(location.pathname + (query === "" ? "" : `?${query}`), { replace: true });
    },
  ];
}
