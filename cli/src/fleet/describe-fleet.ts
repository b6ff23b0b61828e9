/** The text that `flotilla up` prints about a running fleet. Pure. */
import type { FleetState } from "@flotilla/local/state";

export interface FleetDescription {
  readonly sample: boolean;
  readonly foreground: boolean;
  /** Folder of the fleet, when it is not the default of other commands. */
  readonly dir?: string;
}

/** Addresses, and commands to try next. */
export function describeFleet(state: FleetState, options: FleetDescription): string {
  const { addresses } = state;
  const members = state.clusters.map(({ name }) => name).join(", ");
  const flotilla = `${options.dir === undefined ? "" : `FLOTILLA_DIR=${options.dir} `}npx flotilla`;
  const lines = [
    "",
    "The fleet is ready.",
    "",
    `  kubeconfig        ${state.kubeconfig}  (contexts ${members})`,
    `  chart repository  ${addresses["chartRepository"] ?? ""}`,
    `  OCI registry      ${addresses["registry"] ?? ""}`,
    `  hub               ${addresses["hub"] ?? ""} (agents), ${addresses["hubHealth"] ?? ""}/metrics`,
    "",
    "Next steps, in another terminal:",
    "",
    `  ${flotilla} kubectl get helmops,bundledeployments -A`,
    ...(options.sample
      ? [
          `  ${flotilla} charts publish local/charts/web --version 0.1.6   # the sample HelmOp follows 0.1.x`,
          `  ${flotilla} kubectl get bundledeployments -A -w`,
        ]
      : []),
    `  ${flotilla} kubectl --context cluster-1 get deployments -A`,
    `  ${flotilla} status`,
    "",
    options.foreground
      ? "Press Ctrl-C to stop the fleet."
      : `Stop the fleet with \`${flotilla} down\`.`,
    "",
  ];
  return lines.join("\n");
}
