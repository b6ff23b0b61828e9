/** Which hub a command works on: as kubectl chooses, or the local fleet. */
import type { CliConfig } from "../config.ts";

/** The flags that select a hub. */
export interface HubOptions {
  /** The hub of the local fleet. */
  readonly local?: boolean;
  /** Folder of a local fleet, whose hub it is. */
  readonly dir?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

export type HubChoice =
  | { readonly kind: "local"; readonly dir: string; readonly context: string }
  | {
      readonly kind: "kubeconfig";
      readonly paths: readonly string[];
      /** Absent: the current one. */
      readonly context?: string;
    };

/** What there is without flags. */
export interface HubEnvironment extends Pick<CliConfig, "dir" | "isDirNamed" | "kubeconfig"> {
  /** The folder `dir` exists. */
  readonly hasLocalFleet: boolean;
}

/**
 * A flag counts before the environment. A local fleet is used where it is named (`--local`, `--dir`, `FLOTILLA_DIR`), and where it
 * is there and neither a flag nor `KUBECONFIG` names another hub. Otherwise it is kubectl's kubeconfig with its current context. Pure.
 */
export function chooseHub(options: HubOptions, environment: HubEnvironment): HubChoice {
  const { local = false, dir, kubeconfig, context } = options;
  const { isDirNamed, hasLocalFleet } = environment;
  const isUnnamed =
    kubeconfig === undefined && context === undefined && !environment.kubeconfig.isNamed;
  const isLocal =
    local ||
    dir !== undefined ||
    (kubeconfig === undefined && isDirNamed) ||
    (hasLocalFleet && isUnnamed);
  if (isLocal) return { kind: "local", dir: dir ?? environment.dir, context: context ?? "hub" };
  return {
    kind: "kubeconfig",
    paths: kubeconfig === undefined ? environment.kubeconfig.paths : [kubeconfig],
    ...(context !== undefined && { context }),
  };
}
