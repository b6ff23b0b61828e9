/** The text that `flotilla up` prints about a running fleet. Pure. */

import { dirname, join } from "node:path";
import type { FleetState } from "@flotilla/local/state";
import { listNames } from "@flotilla/shared/text";

export interface FleetDescription {
  readonly sample: boolean;
  /** Nothing of Flotilla is installed. */
  readonly bare: boolean;
  readonly foreground: boolean;
  /** The login link of the dashboard, for one login; absent: it was printed before. */
  readonly loginLink?: string;
  /** Folder of the fleet, when it is not the default of other commands. */
  readonly dir?: string;
}

/** Addresses, and commands to try next. */
export function describeFleet(state: FleetState, options: FleetDescription): string {
  const { addresses } = state;
  const members = listNames(state.clusters.map(({ name }) => name));
  const flotilla = `${options.dir === undefined ? "" : `FLOTILLA_DIR=${options.dir} `}npx flotilla`;
  const dashboard = addresses["dashboard"];
  const lines = [
    "",
    "The fleet is ready.",
    "",
    ...(dashboard === undefined
      ? []
      : [`  dashboard         ${options.loginLink ?? dashboard}`, ""]),
    `  kubeconfig        ${state.kubeconfig}  (contexts ${members})`,
    `  chart repository  ${addresses["chartRepository"] ?? ""}`,
    `  OCI registry      ${addresses["registry"] ?? ""}`,
    `  hub               ${addresses["hub"] ?? ""} (agents)`,
    "",
    "Next steps, in another terminal:",
    "",
    ...(options.bare
      ? installSteps(flotilla, join(dirname(state.kubeconfig), "values"))
      : [`  ${flotilla} kubectl get helmops,bundledeployments -A`]),
    ...(options.sample && !options.bare
      ? [
          `  ${flotilla} charts publish local/charts/web --version 0.1.6   # the sample HelmOp follows 0.1.x`,
          `  ${flotilla} kubectl get bundledeployments -A -w`,
        ]
      : []),
    `  ${flotilla} kubectl --context cluster-1 get deployments -A`,
    ...(options.bare
      ? []
      : [
          `  ${flotilla} status`,
          `  ${flotilla} dashboard   # another link: each is for one login`,
        ]),
    "",
    options.foreground
      ? "Press Ctrl-C to stop the fleet."
      : `Stop the fleet with \`${flotilla} down\`.`,
    "",
  ];
  return lines.join("\n");
}

/** The whole way is in docs/install.md. */
function installSteps(flotilla: string, values: string): readonly string[] {
  return [
    `  ${flotilla} helm --kube-context hub install flotilla-crds charts/flotilla-crds --namespace flotilla-system --create-namespace`,
    `  ${flotilla} helm --kube-context hub install flotilla-flux-crds charts/flotilla-flux-crds --namespace flotilla-system`,
    `  ${flotilla} helm --kube-context hub install flotilla charts/flotilla --namespace flotilla-system --values ${values}/flotilla.json`,
    "  # and so on, as in docs/install.md",
  ];
}
