/** What a run of helmfile would have had Helm do. */
import type { ObtainedChart } from "../charts/chart-desk.ts";
import type { ReleaseOptions, ValuesArgument } from "../command/upgrade-command.ts";

/** A release to be installed or upgraded. */
export interface RecordedUpgrade {
  readonly name: string;
  /** Absent: the helmfile names none. */
  readonly namespace?: string;
  readonly kubeContext?: string;
  readonly chart: ObtainedChart;
  /** The constraint of the helmfile, where it is not one version. */
  readonly range?: string;
  readonly options: ReleaseOptions;
  readonly values: readonly RecordedValues[];
}

/** A source of values with the bytes of its files. */
export interface RecordedValues extends ValuesArgument {
  /** `values` has one file, `set-file` those that its text names; by their paths. */
  readonly files: ReadonlyMap<string, Buffer>;
}

export interface RecordedUninstall {
  readonly name: string;
  readonly namespace?: string;
}

export interface Recording {
  /** In the order of the run, which differs from run to run. */
  readonly upgrades: readonly RecordedUpgrade[];
  readonly uninstalls: readonly RecordedUninstall[];
}
