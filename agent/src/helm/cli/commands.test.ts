import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content";
import { plainContent } from "@flotilla/shared/content/testing";
import { describe, test } from "vitest";
import { rollbackOptions, testOptions, upgradeOptions } from "./action-options.ts";
import {
  isReleaseNotFound,
  rollbackArgs,
  testArgs,
  type UpgradeInputs,
  uninstallArgs,
  upgradeArgs,
  withOptions,
} from "./commands.ts";

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
    isRolledBackByHelm = false,
    waits = false,
  }: Partial<Pick<UpgradeInputs, "origin" | "isRolledBackByHelm" | "waits">> = {},
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
    waits,
  });
}

const always = [
  "upgrade",
  "--install",
  "--namespace=apps",
  "--output=json",
  "--reset-values",
  "--disable-openapi-validation",
  "--history-max=2",
  "--labels=flotilla.dev/deployment=web-1,flotilla.dev/uid=u,flotilla.dev/release-digest=d,flotilla.dev/chart-digest=sha256-__________________________________________8,flotilla.dev/revision=3",
];

/** Nothing of it is an option. */
const names = ["--", "web", "/charts/web.tgz"];

describe("the arguments of helm upgrade", () => {
  const cases: readonly (readonly [string, Partial<DeploymentContent>, readonly string[]])[] = [
    ["with defaults", {}, []],
    [
      "with a timeout for hooks",
      { helm: { ...content.helm, timeoutSeconds: 30 } },
      ["--timeout=30s"],
    ],
    ["with createNamespace, which the agent does itself", { createNamespace: true }, []],
    ["with values", { values: { a: 1 } }, ["--values=-"]],
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
        "--timeout=5s",
        "--wait-for-jobs",
        "--force-replace",
        "--server-side=false",
        "--take-ownership",
        "--skip-schema-validation",
        "--enable-dns",
      ],
    ],
  ];
  for (const [name, changed, expected] of cases) {
    test(name, () => assert.deepEqual(argsOf(changed), [...always, ...expected, ...names]));
  }

  test("keep values, and let Helm validate objects, on request", () => {
    const actions = { upgrade: { preserveValues: true, disableOpenAPIValidation: false } };
    const replaced = always.filter((arg) => arg !== "--disable-openapi-validation");

    assert.deepEqual(argsOf({ actions }), [
      ...replaced.map((arg) => (arg === "--reset-values" ? "--reuse-values" : arg)),
      ...names,
    ]);
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
      assert.deepEqual(argsOf({ actions: { upgrade } }), [...always, ...expected, ...names]);
    });

  test("make Helm wait without a rollback if the agent rolls back", () => {
    const atomic = { helm: { ...content.helm, atomic: true } };

    assert.deepEqual(argsOf(atomic, { isRolledBackByHelm: true }), [
      ...always,
      "--rollback-on-failure",
      ...names,
    ]);
    assert.deepEqual(argsOf(atomic, { waits: true }), [...always, "--wait", ...names]);
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
  const always = ["uninstall", "--namespace=apps"];
  const name = ["--", "web"];

  assert.deepEqual(uninstallArgs(release), [...always, ...name]);
  assert.deepEqual(uninstallArgs(release, { waitSeconds: 0 }), [...always, "--wait", ...name]);
  assert.deepEqual(uninstallArgs(release, { waitSeconds: 30 }), [
    ...always,
    "--wait",
    "--timeout=30s",
    ...name,
  ]);
  assert.deepEqual(
    uninstallArgs(release, {
      ...{ timeoutSeconds: 60, withoutHooks: true, keepsHistory: true, cascade: "foreground" },
    }),
    [...always, "--no-hooks", "--keep-history", "--cascade=foreground", "--timeout=60s", ...name],
  );
});

test("only the error `release: not found` of helm uninstall means that the release is missing", () => {
  const found = "uninstall: Release not loaded: web: release: not found";
  const forbidden =
    "uninstall: Release not loaded: web: query: failed to query with labels: secrets is forbidden";

  assert.equal(isReleaseNotFound(found), true);
  const purged =
    "uninstallation completed with 1 error(s): uninstall: Failed to purge the release: release: not found";
  assert.equal(isReleaseNotFound(purged), true);
  assert.equal(isReleaseNotFound(purged.replace("1 error(s): ", "2 error(s): a; ")), false);
  assert.equal(isReleaseNotFound(forbidden), false);
});

describe("the arguments of helm rollback", () => {
  const release = { namespace: "apps", name: "web" };
  const argsOfRollback = (actions: NonNullable<DeploymentContent["actions"]>, waits = false) =>
    rollbackArgs(release, {
      ...{ target: 3, waits, maxHistory: 5 },
      options: rollbackOptions({ ...content, actions }),
    });
  const always = ["rollback", "--namespace=apps", "--history-max=5"];
  const revision = ["--", "web", "3"];

  test("with defaults", () => assert.deepEqual(argsOfRollback({}), [...always, ...revision]));

  test("with the timeout of the release, and of the rollback before it", () => {
    assert.deepEqual(argsOfRollback({ timeoutSeconds: 60 }), [
      ...always,
      "--timeout=60s",
      ...revision,
    ]);
    assert.deepEqual(argsOfRollback({ timeoutSeconds: 60, rollback: { timeoutSeconds: 9 } }), [
      ...always,
      "--timeout=9s",
      ...revision,
    ]);
  });

  test("with every option", () => {
    const rollback = {
      ...{ disableWaitForJobs: false, disableHooks: true, force: true, cleanupOnFail: true },
      serverSideApply: "disabled",
    } as const;

    assert.deepEqual(argsOfRollback({ rollback }, true), [
      ...always,
      ...["--wait", "--wait-for-jobs", "--force-replace", "--server-side=false"],
      ...["--no-hooks", "--cleanup-on-fail"],
      ...revision,
    ]);
  });
});

describe("the arguments of helm test", () => {
  const argsOfTest = (options: NonNullable<DeploymentContent["actions"]>["test"]) => {
    const run = testOptions({ ...content, actions: { test: options } });
    return run && testArgs({ namespace: "apps", name: "web" }, run);
  };
  const always = ["test", "--namespace=apps"];
  const name = ["--", "web"];

  test("are none unless tests are enabled", () => assert.equal(argsOfTest({}), undefined));

  test("name no tests without filters", () =>
    assert.deepEqual(argsOfTest({ enable: true }), [...always, ...name]));

  test("name the tests of filters, and those that do not run", () => {
    const filters = [{ name: "smoke" }, { name: "load", exclude: true }];

    assert.deepEqual(argsOfTest({ enable: true, timeoutSeconds: 30, filters }), [
      ...always,
      ...["--timeout=30s", "--filter=name=smoke", "--filter=!name=load"],
      ...name,
    ]);
  });
});

test("further options come before what is not an option", () => {
  const options = ["--kube-as-user=system:serviceaccount:apps:deployer"];

  assert.deepEqual(withOptions(options, uninstallArgs({ namespace: "apps", name: "--debug" })), [
    "uninstall",
    "--kube-as-user=system:serviceaccount:apps:deployer",
    "--namespace=apps",
    "--",
    "--debug",
  ]);
});
