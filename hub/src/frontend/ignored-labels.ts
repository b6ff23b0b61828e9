/** What is said of labels of the namespace that agents leave out. Pure. */
import type { HelmOp } from "@flotilla/shared/api/helm-op.ts";

/** One sentence for each place that has some. */
export function leftOutLabelRemarks({ spec }: HelmOp): readonly string[] {
  const places = [
    ["spec", spec.namespaceLabels] as const,
    ...(spec.targets ?? []).map(
      (target, index) => [`spec.targets[${index}]`, target.namespaceLabels] as const,
    ),
  ];
  return places.flatMap(([path, labels]) => {
    const names = Object.keys(labels ?? {}).filter((name) =>
      name.startsWith("pod-security.kubernetes.io/"),
    );
    return names.length === 0
      ? []
      : [
          `${path}.namespaceLabels: ${names.join(", ")} ${names.length === 1 ? "is" : "are"} left out, how much pods may do is decided by whoever runs the cluster`,
        ];
  });
}
