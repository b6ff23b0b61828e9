/** What a person is told of a running fleet. Pure. */
import type { FleetState } from "@flotilla/local/state/fleet-state.ts";

export interface FleetDescription {
  readonly sample: boolean;
  readonly foreground: boolean;
  /** The fleet's folder, where other commands would look into another one. */
  readonly dir?: string;
}

/** Where everything is, and what to try next. */
export function describeFleet(state: FleetState, options: FleetDescription): string {
  const { addresses } = state;
  const members = state.clusters.map(({ name }) => name).join(", ");
  const flotilla = `${options.dir === undefined ? "" : `FLOTILLA_DIR=${options.dir} `}npx flotilla`;
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
    `  ${flotilla} kubectl get helmops,bundledeployments -A`,
    ...(options.sample
      ? [
          `  ${flotilla} charts publish local/charts/web --version 0.1.6   # the sample follows 0.1.x`,
          `  ${flotilla} kubectl get bundledeployments -A -w`,
        ]
      : []),
    `  ${flotilla} kubectl --context cluster-1 get deployments -A`,
    `  ${flotilla} status`,
    "",
    options.foreground ? "Ctrl-C stops all of it." : `\`${flotilla} down\` stops all of it.`,
    "",
  ];
  return lines.join("\n");
}
