/** Helmfiles planned by the real helmfile, in the sandbox, with the relay as its Helm. */
import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { configChart } from "../harness/chart-archive.ts";
import { startChartServer } from "../harness/chart-server.ts";
import { type Files, startHelmfilePlanner } from "./helmfile-planner.ts";

const planner = await startHelmfilePlanner();

const app: Files = {
  "charts/app/Chart.yaml": "apiVersion: v2\nname: app\nversion: 0.1.0\n",
  "charts/app/templates/settings.yaml":
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  a: {{ .Values.a | quote }}\n",
};

describe("a helmfile", () => {
  test("with local charts becomes a plan with charts, values, options and order", async () => {
    const { plan, work } = await planner.plan({
      ...app,
      "helmfile.yaml.gotmpl": `
environments:
  default:
    values:
      - foo: FOO
---
releases:
  - name: web
    namespace: shop
    chart: ./charts/app
    needs: [shop/db]
    wait: true
    timeout: 120
    values: [values.yaml]
    set:
      - name: replicas
        value: 2
  - name: db
    namespace: shop
    chart: ./charts/app
    values:
      - a: {{ .Values.foo }}
  - name: gone
    namespace: shop
    chart: ./charts/app
    installed: false
`,
      "values.yaml": "a: 1\nreplicas: 1\n",
    });

    assert.deepEqual(
      plan.releases.map(({ name, namespace, needs, options, chart }) => [
        `${namespace}/${name}`,
        needs,
        options,
        `${chart.name} ${chart.version}`,
      ]),
      [
        ["shop/db", [], { "create-namespace": true, "history-max": "10" }, "app 0.1.0"],
        [
          "shop/web",
          ["shop/db"],
          { wait: "watcher", timeout: "120s", "create-namespace": true, "history-max": "10" },
          "app 0.1.0",
        ],
      ],
    );
    assert.deepEqual(plan.removed, [{ namespace: "shop", name: "gone" }]);
    assert.deepEqual(
      new Map(work.map(({ name, values }) => [name, values])),
      new Map([
        ["db", { a: "FOO" }],
        ["web", { a: 1, replicas: 2 }],
      ]),
    );
  });

  test("with a chart of a repository is planned with the version that Helm would take", async () => {
    const server = await startChartServer();
    for (const version of ["1.0.0", "1.1.0", "2.0.0"])
      server.publish(await configChart("far", version));

    const { plan } = await planner.plan({
      "helmfile.yaml": `
repositories:
  - name: repo
    url: ${server.url}
releases:
  - name: far
    chart: repo/far
    version: ~1.0
  - name: newest
    chart: repo/far
`,
    });

    assert.deepEqual(
      plan.releases.map(({ name, chart: { version, range } }) => [name, version, range]),
      [
        ["far", "1.0.0", "~1.0"],
        ["newest", "2.0.0", undefined],
      ],
    );
    await server.close();
  });
});

describe("a release of a helmfile", () => {
  const manifests = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\ndata:\n  a: b\n";
  const forms: readonly (readonly [what: string, files: Files, release: string])[] = [
    ["of a folder with manifests", { "plain/a.yaml": manifests }, "chart: ./plain"],
    [
      "of a kustomization",
      {
        "kustom/a.yaml": manifests,
        "kustom/kustomization.yaml": "resources: [a.yaml]\nnamePrefix: my-\n",
      },
      "chart: ./kustom",
    ],
    [
      "of a chart with patches",
      app,
      `chart: ./charts/app
    strategicMergePatches:
      - apiVersion: v1
        kind: ConfigMap
        metadata:
          name: a
        data:
          patched: "yes"`,
    ],
    [
      "of a chart with a dependency beside it",
      {
        ...app,
        "charts/over/Chart.yaml":
          "apiVersion: v2\nname: over\nversion: 1.0.0\ndependencies:\n  - name: app\n    version: 0.1.0\n    repository: file://../app\n",
      },
      "chart: ./charts/over",
    ],
  ];
  for (const [what, files, release] of forms)
    test(`${what} has the same chart each time`, async () => {
      const all = {
        ...files,
        "helmfile.yaml": `releases:\n  - name: a\n    namespace: shop\n    ${release}\n`,
      };

      const first = await planner.plan(all);
      const second = await planner.plan(all);

      assert.deepEqual(first.plan, second.plan);
      assert.equal(first.plan.releases.length, 1);
    });
});

describe("a helmfile that names programs", () => {
  test("has no effect on which ones run", async () => {
    const files = {
      ...app,
      "x.sh": "#!/bin/sh\ntouch /tmp/x\n",
      "helmfile.yaml": "helmBinary: ./x.sh\nreleases:\n  - name: a\n    chart: ./charts/app\n",
    };
    const { plan } = await planner.plan(files);
    assert.equal(plan.releases[0]?.name, "a");
  });
});

describe("a helmfile that cannot be planned", () => {
  const invalid: readonly (readonly [string, Files, RegExp])[] = [
    ["is no YAML", { "helmfile.yaml": "releases: [" }, /helmfile.yaml.*yaml/i],
    ["has no releases", { "helmfile.yaml": "releases: []\n" }, /no release/],
    [
      "needs a variable",
      { "helmfile.yaml.gotmpl": 'releases:\n  - name: {{ requiredEnv "BAR" }}\n    chart: ./x\n' },
      /required env var `BAR` is not set/,
    ],
    [
      "names a chart that does not exist",
      { "helmfile.yaml": "releases:\n  - name: a\n    chart: ./none\n" },
      /^plan the helmfile: release a: the chart none is neither a folder/,
    ],
  ];
  for (const [what, files, message] of invalid)
    test(`because it ${what} fails with helmfile's own sentence`, async () => {
      await assert.rejects(planner.plan(files), { message });
    });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    [
      "helmDefaults:\n  args: [--kube-as-user=system:admin]",
      "--kube-as-user",
      /--kube-as-user: the agent decides/,
    ],
    [
      "helmDefaults:\n  syncArgs: [--kube-token, x]",
      "--kube-token",
      /^plan the helmfile: helm upgrade a: --kube-token: the agent decides/,
    ],
    [
      "helmDefaults:\n  recreatePods: true",
      "--recreate-pods",
      /upgrade a: --recreate-pods: Helm 4/,
    ],
    ["helmDefaults:\n  reuseValues: true", "--reuse-values", /upgrade a: --reuse-values/],
  ];
  for (const [defaults, flag, message] of refused)
    test(`because of ${flag} names the flag`, async () => {
      const files = {
        ...app,
        "helmfile.yaml": `${defaults}\nreleases:\n  - name: a\n    chart: ./charts/app\n`,
      };
      await assert.rejects(planner.plan(files), { message });
    });

  test("because it has hooks runs none of them", async () => {
    const files = {
      ...app,
      "helmfile.yaml":
        "releases:\n  - name: a\n    chart: ./charts/app\n    hooks:\n      - events: [prepare]\n        command: kustomize\n        args: [create]\n",
    };
    await assert.rejects(planner.plan(files), { message: /hook/ });
  });

  test("because a values file leads out of the source has nothing of it in its message", async () => {
    const files = {
      ...app,
      "helmfile.yaml":
        "releases:\n  - name: a\n    chart: ./charts/app\n    values: [../../../../../../etc/passwd]\n",
    };
    await assert.rejects(planner.plan(files), (thrown: Error) => {
      assert.doesNotMatch(thrown.message, /root:/);
      assert.match(thrown.message, /denied|not exist|no such file/);
      return true;
    });
  });

  test("because it never ends is killed by its limit", async () => {
    const files = {
      ...app,
      "helmfile.yaml.gotmpl":
        "releases:\n{{ range $i := untilStep 0 2000000000 1 }}{{ end }}\n  - name: a\n    chart: ./charts/app\n",
    };
    await assert.rejects(planner.plan(files, { timeoutMs: 3_000 }), {
      code: "LIMIT_EXCEEDED",
      message: /used more than 512 MiB of memory|took more than 3 s/,
    });
  });

  const attacks: readonly (readonly [string, string])[] = [
    ["a file of the machine", '{{ readFile "/etc/passwd" }}'],
    ["its own environment", '{{ readFile "/proc/self/environ" }}'],
    ["a program", '{{ exec "/bin/cat" (list "/etc/passwd") }}'],
    ["a file by ref+file", '{{ "ref+file:///etc/passwd" | fetchSecretValue }}'],
    ["a program by ref+exec", '{{ "ref+exec://cat/etc/passwd" | fetchSecretValue }}'],
  ];
  for (const [what, template] of attacks)
    test(`because it reads ${what} has nothing of it in its message`, async () => {
      const files = {
        ...app,
        "helmfile.yaml.gotmpl": `releases:\n  - name: a\n    chart: ./charts/app\n    values:\n      - a: {{ ${template.slice(3, -3)} | quote }}\n`,
      };
      await assert.rejects(planner.plan(files), (thrown: Error) => {
        assert.doesNotMatch(thrown.message, /root:|FLOTILLA_RELAY_TOKEN=/);
        assert.match(thrown.message, /denied|no such file|not found|not permitted/i);
        return true;
      });
    });
});
