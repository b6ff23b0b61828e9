/** What a person is told of a running fleet. Pure. */
import type { FleetState } from "@flotilla/local/state/fleet-state.ts";

/** Where everything is, and what to try next. `dir`: as a person would type it, when it is not the default. */
export function describeFleet(
  state: FleetState,
  options: { readonly sample: boolean; readonly foreground: boolean },
): string {
  const { addresses } = state;
  const members = state.clusters.map(({ name }) => name).join(", ");
  const lines = [
    "",
    "The fleet is up.",
    "",
    `  kubeconfig        ${state.kubeconfig}  (contexts ${members})`,
    `  chart repository  ${addresses["chartRepository"] ?? ""}`,
    `  OCI registry      ${addresses["registry"] ?? ""}`,
    `  hub               ${addresses["hub"] ?? ""} (agents), ${addresses["hubHealth"] ?? ""}/metrics`,
    "",
    "Try next, in another terminal:",
    "",
    "  npx flotilla kubectl get helmops,bundledeployments -A",
    ...(options.sample
      ? [
          "  npx flotilla charts publish local/charts/web --version 0.1.6   # the sample follows 0.1.x",
          "  npx flotilla kubectl get bundledeployments -A -w",
        ]
      : []),
    "  npx flotilla kubectl --context cluster-1 get deployments -A",
    "  npx flotilla status",
    "",
    options.foreground ? "Ctrl-C stops all of it." : "`npx flotilla down` stops all of it.",
    "",
  ];
  return lines.join("\n");
}
