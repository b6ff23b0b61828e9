import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, test } from "vitest";
import { upgradeOptions } from "./action-options.ts";
import { isReleaseNotFound, type UpgradeInputs, uninstallArgs, upgradeArgs } from "./commands.ts";

const content: DeploymentContent = {
  ...plainContent,
  pin: { kind: "http", version: "1.0.0", url: "https://charts/web-1.0.0.tgz" },
  releaseName: "web",
  namespace: "apps",
  createNamespace: false,
  helm: { ...plainContent.helm, disableDNS: true },
};

function argsOf(
  changed: Partial<DeploymentContent>,
  {
    origin,
    isRolledBackByHelm = true,
  }: Partial<Pick<UpgradeInputs, "origin" | "isRolledBackByHelm">> = {},
): readonly string[] {
  const desired = { ...content, ...changed };
  return upgradeArgs({
    content: desired,
    options: upgradeOptions(desired, false),
    hasValues: changed.values !== undefined,
    owner: { name: "web-1", uid: "u" },
    digest: "d",
    origin,
    revision: 3,
    chartPath: "/charts/web.tgz",
    chartDigest: `sha256:${"ff".repeat(32)}`,
    isRolledBackByHelm,
  });
}

const always = [
  "upgrade",
  "--install",
  "web",
  "/charts/web.tgz",
  "--namespace=apps",
  "--output=json",
  "--reset-values",
  "--disable-openapi-validation",
  "--history-max=2",
  "--labels=flotilla.dev/deployment=web-1,flotilla.dev/uid=u,flotilla.dev/release-digest=d,flotilla.dev/chart-digest=sha256-__________________________________________8,flotilla.dev/revision=3",
];

describe("the arguments of helm upgrade", () => {
  const cases: readonly (readonly [string, Partial<DeploymentContent>, readonly string[]])[] = [
    ["with defaults", {}, []],
    ["with createNamespace, which the agent does itself", { createNamespace: true }, []],
    ["with values", { values: { a: 1 } }, ["--values=-"]],
    [
      "with a timeout",
      { helm: { ...content.helm, timeoutSeconds: 30 } },
      ["--wait", "--timeout=30s"],
    ],
    [
      "with every option",
      {
        helm: {
          timeoutSeconds: 5,
          atomic: true,
          force: true,
          takeOwnership: true,
          waitForJobs: true,
          disableDNS: false,
          skipSchemaValidation: true,
          maxHistory: 2,
        },
      },
      [
        "--wait",
        "--timeout=5s",
        "--wait-for-jobs",
        "--rollback-on-failure",
        "--force-replace",
        "--server-side=false",
        "--take-ownership",
        "--skip-schema-validation",
        "--enable-dns",
      ],
    ],
  ];
  for (const [name, changed, expected] of cases) {
    test(name, () => assert.deepEqual(argsOf(changed), [...always, ...expected]));
  }

  test("keep values, and let Helm validate objects, on request", () => {
    const actions = { upgrade: { preserveValues: true, disableOpenAPIValidation: false } };
    const replaced = always.filter((arg) => arg !== "--disable-openapi-validation");

    assert.deepEqual(
      argsOf({ actions }),
      replaced.map((arg) => (arg === "--reset-values" ? "--reuse-values" : arg)),
    );
  });

  for (const [name, upgrade, expected] of [
    ["without hooks", { disableHooks: true }, ["--no-hooks"]],
    [
      "with a timeout for hooks alone",
      { timeoutSeconds: 1.5, disableWait: true },
      ["--timeout=1.5s"],
    ],
    ["with a cleanup", { cleanupOnFail: true }, ["--cleanup-on-fail"]],
    [
      "by server-side apply",
      { serverSideApply: "enabled" },
      ["--server-side=true", "--force-conflicts"],
    ],
    ["as the revision before", { serverSideApply: "auto" }, ["--server-side=auto"]],
  ] as const)
    test(`${name}, as the options of an upgrade say`, () => {
      assert.deepEqual(argsOf({ actions: { upgrade } }), [...always, ...expected]);
    });

  test("make Helm wait without a rollback if the agent rolls back", () => {
    const atomic = (timeoutSeconds: number): readonly string[] =>
      argsOf(
        { helm: { ...content.helm, atomic: true, timeoutSeconds } },
        { isRolledBackByHelm: false },
      ).slice(always.length);

    assert.deepEqual(atomic(0), ["--wait"]);
    assert.deepEqual(atomic(30), ["--wait", "--timeout=30s"]);
    assert.deepEqual(argsOf({}, { isRolledBackByHelm: false }), always);
  });

  test("label a release with the origin of its values", () => {
    const labels = argsOf({}, { origin: "o" }).find((argument) => argument.startsWith("--labels="));

    assert.match(labels ?? "", /,flotilla\.dev\/values-origin=o$/);
  });

  test("contain no value, and no address that may contain a password", () => {
    const args = argsOf({
      values: { password: "hunter2" },
      pin: { kind: "http", version: "1.0.0", url: "https://user:hunter2@charts/web-1.0.0.tgz" },
    });

    assert.ok(!args.join(" ").includes("hunter2"));
  });
});

test("helm uninstall waits only if a wait time is given", () => {
  const release = { namespace: "apps", name: "web" };
  const always = ["uninstall", "web", "--namespace=apps"];

  assert.deepEqual(uninstallArgs(release), always);
  assert.deepEqual(uninstallArgs(release, { waitSeconds: 0 }), [...always, "--wait"]);
  assert.deepEqual(uninstallArgs(release, { waitSeconds: 30 }), [
    ...always,
    "--wait",
    "--timeout=30s",
  ]);
  assert.deepEqual(
    uninstallArgs(release, {
      ...{ timeoutSeconds: 60, withoutHooks: true, keepsHistory: true, cascade: "foreground" },
    }),
    [...always, "--no-hooks", "--keep-history", "--cascade=foreground", "--timeout=60s"],
  );
});

test("only the error `release: not found` of helm uninstall means that the release is missing", () => {
  const found = "uninstall: Release not loaded: web: release: not found";
  const forbidden =
    "uninstall: Release not loaded: web: query: failed to query with labels: secrets is forbidden";

  assert.equal(isReleaseNotFound(found), true);
  assert.equal(isReleaseNotFound(forbidden), false);
});
