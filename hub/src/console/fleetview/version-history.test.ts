import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { versionHistoryOf } from "./version-history.ts";

interface RevisionSpec {
  readonly version: string;
  readonly at: string;
  readonly status?: string;
}

/** `revisions`: the newest first, as an agent reports them. */
function deployment(version: string, ...revisions: readonly RevisionSpec[]) {
  return {
    status: {
      version,
      history: revisions.map(({ version: chartVersion, at, status = "deployed" }, index) => ({
        ...{ version: revisions.length - index, status, chartVersion },
        lastDeployed: `2026-01-01T${at}:00Z`,
      })),
    },
  };
}

describe("the history of versions", () => {
  test("says when the first and the last cluster got a version, and how many run it now", () => {
    const history = versionHistoryOf([
      deployment("1.1.0", { version: "1.1.0", at: "10:00" }, { version: "1.0.0", at: "08:00" }),
      deployment("1.0.0", { version: "1.0.0", at: "09:00" }),
    ]);

    assert.deepEqual(history, [
      {
        ...{ version: "1.1.0", clusters: 1, current: 1, failed: 0 },
        ...{ firstAt: "2026-01-01T10:00:00Z", lastAt: "2026-01-01T10:00:00Z" },
      },
      {
        ...{ version: "1.0.0", clusters: 2, current: 1, failed: 0 },
        ...{ firstAt: "2026-01-01T08:00:00Z", lastAt: "2026-01-01T09:00:00Z" },
      },
    ]);
  });

  test("counts a cluster once for each version, by its newest revision of it", () => {
    const [rolledBack, failed] = versionHistoryOf([
      deployment(
        "1.0.0",
        { version: "1.0.0", at: "10:00" },
        { version: "1.1.0", at: "09:00", status: "failed" },
        { version: "1.1.0", at: "08:00", status: "failed" },
        { version: "1.0.0", at: "07:00", status: "failed" },
      ),
    ]);

    assert.deepEqual(
      { ...rolledBack, firstAt: "", lastAt: "" },
      { version: "1.0.0", clusters: 1, current: 1, failed: 0, firstAt: "", lastAt: "" },
    );
    assert.deepEqual([failed?.failed, failed?.current], [1, 0]);
  });

  test("is empty before an agent has reported, and compares times with other offsets", () => {
    assert.deepEqual(versionHistoryOf([{}, { status: {} }]), []);
    const [newest] = versionHistoryOf([
      {
        status: {
          version: "2",
          history: [
            { version: 2, chartVersion: "2", lastDeployed: "2026-01-01T10:30:00+02:00" },
            { version: 1, chartVersion: "1", lastDeployed: "2026-01-01T08:00:00Z" },
          ],
        },
      },
    ]);
    assert.equal(newest?.version, "2");
  });
});
