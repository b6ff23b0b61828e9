import assert from "node:assert/strict";
import type { DeploymentContent } from "@flotilla/shared/content/content.ts";
import { plainContent } from "@flotilla/shared/content/testing/plain-content.ts";
import { describe, test } from "vitest";
import { isNotThere, type UpgradeInputs, uninstallArgs, upgradeArgs } from "./commands.ts";

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
  { origin, isUndoneByHelm = true }: Partial<Pick<UpgradeInputs, "origin" | "isUndoneByHelm">> = {},
): readonly string[] {
  return upgradeArgs({
    content: { ...content, ...changed },
    hasValues: changed.values !== undefined,
    owner: { name: "web-1", uid: "u" },
    digest: "d",
    origin,
    revision: 3,
    chartPath: "/charts/web.tgz",
    chartDigest: `sha256:${"ff".repeat(32)}`,
    isUndoneByHelm,
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
    ["with nothing special", {}, []],
    ["with a namespace to create, which is not left to Helm", { createNamespace: true }, []],
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

  test("have Helm wait, and leave it at that, where somebody else undoes what fails", () => {
    const atomic = (timeoutSeconds: number): readonly string[] =>
      argsOf(
        { helm: { ...content.helm, atomic: true, timeoutSeconds } },
        { isUndoneByHelm: false },
      ).slice(always.length);

    assert.deepEqual(atomic(0), ["--wait"]);
    assert.deepEqual(atomic(30), ["--wait", "--timeout=30s"]);
    assert.deepEqual(argsOf({}, { isUndoneByHelm: false }), always);
  });

  test("label a release with what its values were rendered from", () => {
    const labels = argsOf({}, { origin: "o" }).find((argument) => argument.startsWith("--labels="));

    assert.match(labels ?? "", /,flotilla\.dev\/values-origin=o$/);
  });

  test("never hold a value, nor an address that may have a password in it", () => {
    const args = argsOf({
      values: { password: "hunter2" },
      pin: { kind: "http", version: "1.0.0", url: "https://user:hunter2@charts/web-1.0.0.tgz" },
    });

    assert.ok(!args.join(" ").includes("hunter2"));
  });
});

test("the arguments of helm uninstall", () => {
  const release = { namespace: "apps", name: "web" };
  const always = ["uninstall", "web", "--namespace=apps"];

  assert.deepEqual(uninstallArgs(release), always);
  assert.deepEqual(uninstallArgs(release, 0), [...always, "--wait"]);
  assert.deepEqual(uninstallArgs(release, 30), [...always, "--wait", "--timeout=30s"]);
});

test("a complaint of helm uninstall says that there is nothing only when nothing was found", () => {
  const found = "uninstall: Release not loaded: web: release: not found";
  const forbidden =
    "uninstall: Release not loaded: web: query: failed to query with labels: secrets is forbidden";

  assert.equal(isNotThere(found), true);
  assert.equal(isNotThere(forbidden), false);
});
