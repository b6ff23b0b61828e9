/** A fleet that `flotilla` starts, shows, publishes charts to, and stops. */

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { isAlive, type ProcessRecord, readJournal, waitUntil } from "@flotilla/local/process";
import { sampleChartDir } from "@flotilla/local/registries";
import { type FleetState, fleetPaths, runningProcesses } from "@flotilla/local/state";
import { afterAll, beforeAll, describe, test } from "vitest";
import { chartDir } from "../harness/chart-rights.ts";
import { connectCluster } from "../harness/cluster-client.ts";
import { type Commands, commandsIn } from "../harness/flotilla-command.ts";
import { hangMs } from "../harness/hang.ts";
import { untilFile } from "../harness/log-file.ts";
import { createWorkspace } from "../harness/workspace.ts";

/** The output of `status -o json` for a running fleet. */
async function stateOf(flotilla: Commands): Promise<FleetState> {
  const { code, stdout } = await flotilla.run("status", "-o", "json");
  assert.equal(code, 0, stdout);
  return JSON.parse(stdout) as FleetState;
}

/** The processes of the fleet that still run, by the records of their start. */
function leftOf({ dir }: Commands): Promise<readonly ProcessRecord[]> {
  return runningProcesses(fleetPaths(dir));
}

async function allGone(processes: readonly ProcessRecord[]): Promise<boolean> {
  return !(await Promise.all(processes.map(isAlive))).includes(true);
}

describe("a fleet in the background", async () => {
  const flotilla = await commandsIn({ onTestFinished: afterAll });
  let state: FleetState;

  beforeAll(async () => {
    const up = await flotilla.run("up", "--detach", "--clusters", "1", "--local");
    assert.equal(up.code, 0, up.stderr);
    assert.match(
      up.stdout,
      /The fleet is ready\.\n.*Stop the fleet with `npx flotilla down`\.\n$/s,
    );
    state = await stateOf(flotilla);
  });

  test("is shown with everything that a program needs to use it", async () => {
    assert.ok(isAbsolute(state.kubeconfig));
    assert.match(await readFile(state.kubeconfig, "utf8"), /name: hub\n.*name: cluster-1\n/s);
    assert.deepEqual(Object.keys(state.addresses), [
      ...["hub", "dashboard", "chartRepository", "registry"],
    ]);
    const alive = await Promise.all(state.processes.map(isAlive));
    assert.ok(state.processes.length >= 13 && !alive.includes(false));
  });

  test("has its clusters enrolled under the names of their contexts, and the hub's own as local", async () => {
    const { code, stdout } = await flotilla.run(
      "kubectl",
      "get",
      "clusters.fleet.cattle.io",
      "--all-namespaces",
      "--output=jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.status.agent.connected}{'\\n'}{end}",
    );

    assert.equal(code, 0);
    assert.deepEqual(stdout.trim().split("\n").sort(), [
      "fleet-default/cluster-1 true",
      "fleet-local/local true",
    ]);
  });

  test("is printed as a table, once the clusters have reported", async () => {
    // The status of a HelmOp is written at once, the counts of a cluster within a second.
    const counted = await flotilla.run(
      "kubectl",
      "wait",
      "--namespace=fleet-default",
      "clusters.fleet.cattle.io/cluster-1",
      "--for=jsonpath={.status.display.readyBundles}=1/1",
    );
    const { code, stdout } = await flotilla.run("status");

    assert.equal(counted.code, 0, counted.stderr);

    assert.equal(code, 0);
    assert.match(stdout, /^versions +hub \d+\.\d+\.\d+, command line \d+\.\d+\.\d+$/m);
    assert.match(stdout, /^fleet-default\/cluster-1 +connected +\d+\.\d+\.\d+ +1\/1 +Ready$/m);
    assert.match(stdout, /^fleet-local\/local +connected +\d+\.\d+\.\d+ +0\/0 +Ready$/m);
    assert.match(stdout, /^fleet-default\/sample +0\.1\.5 +1\/1 *$/m);
  });

  test("answers kubectl in each of its contexts, with kubectl's own exit code", async () => {
    const found = await flotilla.run(
      "kubectl",
      "--context=cluster-1",
      "get",
      "deployments",
      "--namespace=sample",
      "--output=name",
    );
    const missing = await flotilla.run("kubectl", "--context=cluster-1", "get", "pod", "nope");

    assert.deepEqual([found.code, found.stdout], [0, "deployment.apps/sample-web\n"]);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /pods "nope" not found/);
  });

  test("has pods of a DaemonSet that tolerates everything on all its nodes, and all are ready", async () => {
    const exporter = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "exporter", namespace: "default" },
      spec: {
        selector: { matchLabels: { app: "exporter" } },
        template: {
          metadata: { labels: { app: "exporter" } },
          spec: {
            tolerations: [{ operator: "Exists" }],
            containers: ["exporter", "proxy"].map((name) => ({
              ...{ name, image: `example.com/${name}:1` },
            })),
          },
        },
      },
    };
    const file = join(flotilla.dir, "exporter.json");
    await writeFile(file, JSON.stringify(exporter));
    await flotilla.run("kubectl", "--context=cluster-1", "apply", "--filename", file);
    const ready = await flotilla.run(
      ...["kubectl", "--context=cluster-1", "rollout", "status", "daemonset/exporter"],
      ...["--namespace=default", "--timeout=60s"],
    );
    const scheduled = await flotilla.run(
      ...["kubectl", "--context=cluster-1", "get", "daemonset", "exporter"],
      ...["--namespace=default", "--output=jsonpath={.status.numberReady}"],
    );

    assert.equal(ready.code, 0, ready.stderr);
    assert.equal(scheduled.stdout, "2");
  });

  test("answers what the hub has not stored, by its agents", async () => {
    const history = await flotilla.run("history", "helmop/sample");
    const diff = await flotilla.run("diff", "helmop/sample");
    const logs = await flotilla.run("logs", "helmop/sample");

    assert.match(
      history.stdout,
      /^1 +\S+ +deployed +\S+-0\.1\.5 .*Install complete$/m,
      history.stderr,
    );
    assert.equal(diff.stdout, "no differences\n", diff.stderr);
    // Its pods are on a node without a kubelet.
    assert.equal(logs.code, 1);
    assert.match(logs.stderr, /^flotilla: \[sample-web-\S+\] cannot read the log: /);
  });

  test("is asked what a change would do that nobody has written", async () => {
    const scaled = await flotilla.run("plan", "helmop/sample", "--set", "replicaCount=3");
    const published = await flotilla.run("plan", "helmop/sample", "--version", "0.1.5");
    const missing = await flotilla.run("plan", "helmop/sample", "--version", "9.9.9");
    const unchanged = await flotilla.run("plan", "helmop/sample");

    assert.match(
      scaled.stdout,
      /^# Deployment sample\/sample-web: update\n[^#]*^- +replicas: 2\n^\+ +replicas: 3$/m,
      scaled.stderr,
    );
    assert.deepEqual(
      [scaled, published, missing, unchanged].map(({ code }) => code),
      [1, 0, 2, 0],
    );
    assert.match(missing.stderr, /9\.9\.9/);
  });

  test("runs hub and agents as pods of their charts, started again when they end, with logs", async () => {
    const hubPod = ["--namespace=flotilla-system", "--selector=app.kubernetes.io/name=flotilla"];
    const restartCount = "{.status.containerStatuses[0].restartCount}";
    const hub = (await leftOf(flotilla)).find(({ name }) =>
      name.startsWith("pod flotilla-system/flotilla-"),
    );
    assert.ok(hub);

    process.kill(hub.pid, "SIGKILL");
    const restarted = await flotilla.run(
      ...["kubectl", "wait", "pods", ...hubPod, `--for=jsonpath=${restartCount}=1`],
    );
    const again = await flotilla.run(
      ...["kubectl", "wait", "pods", ...hubPod, "--for=condition=Ready", "--timeout=60s"],
    );

    assert.deepEqual([restarted.code, again.code], [0, 0], restarted.stderr + again.stderr);
    const logs = await flotilla.run("kubectl", "logs", ...hubPod, "--tail=-1");
    assert.match(logs.stdout, /"msg":"cluster enrolled"/);
  });

  test("is tested by the charts", async () => {
    const hub = await flotilla.run(
      ...["helm", "--kube-context=hub", "test", "flotilla", "--namespace=flotilla-system"],
    );
    const agent = await flotilla.run(
      ...["helm", "--kube-context=cluster-1", "test", "flotilla-agent"],
      "--namespace=flotilla-agent",
    );

    assert.match(hub.stdout, /Phase: +Succeeded/, hub.stderr);
    assert.match(agent.stdout, /Phase: +Succeeded/, agent.stderr);
  });

  test("is not changed by a second up", async () => {
    const again = await flotilla.run("up", "--detach", "--clusters", "1", "--local");

    assert.equal(again.code, 0);
    assert.match(again.stdout, /^A fleet is already running\./);
    assert.deepEqual((await stateOf(flotilla)).processes, state.processes);
  });

  test("deploys a chart that is published", async () => {
    const published = await flotilla.run(
      "charts",
      "publish",
      sampleChartDir("web"),
      "--version",
      "0.1.6",
    );

    assert.equal(published.code, 0, published.stderr);
    assert.match(published.stdout, /^Published web 0\.1\.6 \(sha256:[0-9a-f]{64}\)\n/);
    const hub = await connectCluster(state.kubeconfig, "hub");
    try {
      await createWorkspace(hub).waitUntilReady("sample", "0.1.6", 1);
    } finally {
      await hub.close();
    }
  });

  test("upgrades an agent by a HelmOp of its own, which replaces its pod, with one Helm run", async () => {
    const podsOf = async () =>
      (
        await flotilla.run(
          ...["kubectl", "--context=cluster-1", "get", "pods", "--namespace=flotilla-agent"],
          ...["--output=name", "--selector=app.kubernetes.io/name=flotilla-agent"],
        )
      ).stdout;
    const before = await podsOf();
    const { values } = fleetPaths(flotilla.dir);
    const installed = JSON.parse(await readFile(join(values, "flotilla-agent.json"), "utf8"));
    await flotilla.run("charts", "publish", chartDir("flotilla-agent"), "--version", "99.0.0");
    const hub = await connectCluster(state.kubeconfig, "hub");
    try {
      const workspace = createWorkspace(hub);
      await workspace.createHelmOp("agent", {
        namespace: "flotilla-agent",
        helm: {
          repo: state.addresses["chartRepository"] ?? "",
          chart: "flotilla-agent",
          version: "99.0.0",
          releaseName: "flotilla-agent",
          values: { ...installed, podAnnotations: { upgraded: "true" } },
        },
        targets: [{ clusterName: "cluster-1" }],
      });
      // It was installed by hand, so it is taken over only when that is asked for, and here without an account.
      await workspace.waitForMessage("agent", /exists already, in revision 1/);
      await workspace.patchHelmOp("agent", { helm: { takeOwnership: true } });
      await workspace.waitForMessage(
        "agent",
        /is not upgraded: revision 1, which this agent did not create/,
      );
      await workspace.patchHelmOp("agent", { forceSyncGeneration: 1 });
      await workspace.waitUntilReady("agent", "99.0.0", 1);
    } finally {
      await hub.close();
    }
    const rolledOut = await flotilla.run(
      ...["kubectl", "--context=cluster-1", "rollout", "status", "deployment/flotilla-agent"],
      ...["--namespace=flotilla-agent", "--timeout=60s"],
    );
    const history = await flotilla.run(
      ...["helm", "--kube-context=cluster-1", "history", "flotilla-agent"],
      ...["--namespace=flotilla-agent", "--output=json"],
    );

    assert.equal(rolledOut.code, 0, rolledOut.stderr);
    assert.notEqual(await podsOf(), before);
    assert.deepEqual(
      (JSON.parse(history.stdout) as readonly { status: string }[]).map(({ status }) => status),
      ["superseded", "deployed"],
    );
  });

  test("has its authority rotated on request, once at a time", async () => {
    const asked = await flotilla.run("rotate-authority");
    const again = await flotilla.run("rotate-authority");

    assert.deepEqual([asked.code, asked.stderr], [0, ""]);
    assert.match(asked.stdout, /^Rotation requested: .* about 24h later\n$/);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /^flotilla: rotate the authority: a rotation is in progress: .+\n$/);
  });

  test("with a killed process reports which, and is stopped by down completely", async () => {
    const runner = state.processes.find(({ name }) => name === "pod runner");
    assert.ok(runner);
    const pods = await leftOf(flotilla);
    process.kill(runner.pid, "SIGKILL");
    await waitUntil(() => allGone([runner]), { what: "the end of it", timeoutMs: hangMs });

    const status = await flotilla.run("status", "-o", "json");
    const up = await flotilla.run("up", "--detach");
    const down = await flotilla.run("down");
    const afterwards = await flotilla.run("status", "-o", "json");

    assert.equal(status.code, 1);
    assert.match(status.stdout, /pod runner \(log \S+pods\.log\) has ended; run `flotilla down`/);
    assert.doesNotMatch(status.stdout, /kubeconfig/);
    assert.equal(up.code, 1);
    assert.match(up.stderr, /^flotilla: the fleet in \S+ is broken: pod runner has ended; /);
    assert.equal(down.code, 0);
    assert.match(down.stdout, /^Fleet stopped: \d+ processes ended, data deleted\.\n$/);
    assert.ok(await allGone([...state.processes, ...pods]));
    assert.equal(afterwards.code, 1);
  });
});

describe("a fleet in the foreground", async () => {
  const flotilla = await commandsIn({ onTestFinished: afterAll });
  const up = () => flotilla.start("up", "--clusters", "1", "--no-sample");

  // They start concurrently, so at each of these points some of them have just been started.
  for (const count of [1, 6])
    test(`that is interrupted when it has started ${count} of its processes leaves nothing`, async () => {
      const running = up();
      await running.printed("starting the hub cluster");
      const { journal } = fleetPaths(flotilla.dir);
      await untilFile(journal, async () => (await readJournal(journal)).length >= count);
      // As a terminal does: to the whole group.
      process.kill(-running.pid, "SIGINT");

      const { code, stderr } = await running.ended;

      assert.equal(code, 130);
      assert.equal(
        stderr,
        "flotilla: interrupted before the fleet was ready; all its processes have been stopped\n",
      );
      assert.deepEqual(await leftOf(flotilla), []);
    });

  test("whose command is killed leaves nothing running", async () => {
    const running = up();
    await running.printed("Press Ctrl-C to stop the fleet.");
    const processes = await leftOf(flotilla);

    running.child.kill("SIGKILL");

    await running.ended;
    await waitUntil(() => allGone(processes), {
      what: "the end of all processes",
      timeoutMs: hangMs,
    });
    assert.equal((await flotilla.run("status", "-o", "json")).code, 1);
  });

  test("starts over the files of a killed one, and Ctrl-C stops all of it", async () => {
    const running = up();
    await running.printed("Press Ctrl-C to stop the fleet.");
    const { processes } = await stateOf(flotilla);
    process.kill(-running.pid, "SIGINT");

    const { code, stdout, stderr } = await running.ended;

    assert.deepEqual([code, stderr], [130, ""]);
    assert.match(stdout, /\nStopping \.\.\.\nFleet stopped\.\n$/);
    assert.ok(await allGone(processes));
    assert.deepEqual(await leftOf(flotilla), []);
  });

  test("that is stopped by down in another terminal says so there", async () => {
    const running = flotilla.start("up", "--bare", "--clusters", "1");
    await running.printed("Press Ctrl-C to stop the fleet.");

    const down = await flotilla.run("down");

    const { code, stdout, stderr } = await running.ended;
    assert.deepEqual([down.code, down.stderr], [0, ""]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /\nStopping \.\.\.\nFleet stopped\.\n$/);
    assert.deepEqual(await leftOf(flotilla), []);
  });
});
