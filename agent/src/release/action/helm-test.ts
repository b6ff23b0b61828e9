/** Runs the tests of a release (`helm test`), and records their results. */
import { AppError } from "@flotilla/shared/errors";
import { agentErrors } from "../../base/errors/index.ts";
import type { ImpersonatedClient } from "../../base/index.ts";
import {
  type HelmTest,
  helmFailureOf,
  type ReadRecords,
  type ReleaseRecord,
  type RunHelm,
  type StoredReleases,
  type TestOptions,
  testArgs,
  withOptions,
} from "../../helm/index.ts";
import type { ReleaseInputs } from "../../inputs/index.ts";
import type { Attempts, Inventory, InventoryTest } from "../../state/index.ts";
import { attemptOf } from "./attempts.ts";
import type { RecordGuard } from "./record-guard.ts";

export interface TestDeps {
  readonly stored: Pick<StoredReleases, "read" | "forget">;
  readonly records: Pick<ReadRecords, "manifest">;
  readonly inventory: Pick<Inventory, "tested" | "disown">;
  readonly attempts: Pick<Attempts, "setAttempt">;
  readonly guard: Pick<RecordGuard, "beforeTests">;
  readonly runHelm: RunHelm;
}

export interface TestRun {
  readonly options: TestOptions;
  readonly client: ImpersonatedClient;
  readonly inputs: Pick<ReleaseInputs, "redact">;
  readonly signal: AbortSignal;
}

/**
 * The error of failed tests; undefined: all have passed, or somebody has changed the record, which is not the agent's any more
 * then. Throws HELM_FAILED if they could not run.
 */
export type RunHelmTest = (record: ReleaseRecord, run: TestRun) => Promise<AppError | undefined>;

export function createRunHelmTest({
  stored,
  records,
  inventory,
  attempts,
  guard,
  runHelm,
}: TestDeps): RunHelmTest {
  return async function runTests(record, { options, client, inputs, signal }) {
    const { namespace, name, revision } = record;
    if (!(await guard.beforeTests(record, revision, { client })).mayRun) {
      await inventory.disown(record, revision);
      return undefined;
    }
    const args = withOptions(client.helmArgs, testArgs(record, options));
    const result = await runHelm({ args, signal });
    stored.forget(record);
    const release = await stored.read(record);
    const ran = release.tests.flatMap(resultOf);
    const failed = ran.filter(({ phase }) => phase !== "Succeeded").map((each) => each.name);
    const error = new AppError(
      agentErrors.HELM_FAILED,
      `helm test of release ${namespace}/${name}: ${failed.length > 0 ? `${failed.join(", ")} failed: ` : ""}${inputs.redact(helmFailureOf(result))}`,
    );
    if (result.code !== 0 && failed.length === 0) throw error;
    await inventory.tested(record, revision, ran);
    if (failed.length === 0) return undefined;
    if (record.owner !== undefined)
      await attempts.setAttempt(record.owner.id, await attemptOf(records, release));
    return error;
  };
}

function resultOf({ phase, ...test }: HelmTest): readonly InventoryTest[] {
  return phase === undefined ? [] : [{ ...test, phase }];
}
