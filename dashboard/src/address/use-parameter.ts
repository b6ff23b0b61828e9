/** A part of what a page shows that is in its address, so that a link shows the same. */
import { useSearchParams } from "wouter";

export function useParameter(
  name: string,
  absent: string,
): readonly [string, (value: string) => void] {
  const [parameters, setParameters] = useSearchParams();
  return [
    parameters.get(name) ?? absent,
    (value) =>
      setParameters(
        (before) => {
          const next = new URLSearchParams(before);
          if (value === absent) next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      ),
  ];
}
