import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "vitest";
import type { FluxEvent } from "./event.ts";
import { builderOf, providerTypes, takesCommitUpdates } from "./provider-types.ts";
import { build, failure, only, settings, success } from "./testing/index.ts";

const sha = "c".repeat(40);

describe("generic", () => {
  test("sends the event with the headers of the Secret", () => {
    const { body, headers, url } = only(
      "generic",
      failure,
      settings("https://sink.example.com/a?b=c", { headers: { "X-Forwarded-Proto": "https" } }),
    );

    assert.deepEqual(body, failure);
    assert.equal(url, "https://sink.example.com/a?b=c");
    assert.deepEqual(headers, {
      "content-type": "application/json",
      "gotk-component": "flotilla.dev/hub",
      "x-forwarded-proto": "https",
    });
  });

  test("-hmac signs the bytes of the body, and sends nothing without a key", () => {
    const signed = build(
      "generic-hmac",
      failure,
      settings("https://a.example.com", { token: "key" }),
    );
    const [{ body = "", headers } = { body: "", headers: {} }] = signed.requests;

    const hmac = createHmac("sha256", "key").update(body).digest("hex");
    assert.equal((headers as Record<string, string>)["x-signature"], `sha256=${hmac}`);
    assert.equal(
      builderOf("generic-hmac")?.(failure, settings("https://a.example.com")).kind,
      "impossible",
    );
  });
});

describe("slack", () => {
  const address = "https://hooks.slack.com/services/a";
  const body = {
    channel: "alerts",
    username: "flotilla.dev/hub",
    icon_url: "",
    icon_emoji: ":rocket:",
    attachments: [
      {
        fallback: "helmop/web.prod: 1 of 3 clusters failed",
        color: "danger",
        author_name: "helmop/web.prod",
        text: "1 of 3 clusters failed",
        mrkdwn_in: ["text"],
        fields: [
          { title: "summary", value: "the shop", short: false },
          { title: "a:b", value: "c:d", short: false },
          { title: "revision", value: "1.2.3", short: false },
        ],
      },
    ],
  };

  test("gets an attachment, in red for an error", () => {
    assert.deepEqual(only("slack", failure, settings(address, { channel: "alerts" })).body, body);
    const { attachments } = only("slack", success, settings(address)).body;
    assert.equal((attachments as { color: string }[])[0]?.color, "good");
  });

  test("gets the token, and the name of the Provider", () => {
    const { headers, body: sent } = only(
      "slack",
      failure,
      settings(address, { token: "xoxb", username: "bot" }),
    );

    assert.equal(headers["authorization"], "Bearer xoxb");
    assert.equal(sent["username"], "bot");
  });

  test("'s API reports failures in a body with status 200", () => {
    const { requests } = build(
      "slack",
      failure,
      settings("https://slack.com/api/chat.postMessage"),
    );
    const problem = requests[0]?.problem;

    assert.equal(problem?.('{"ok":true}'), undefined);
    assert.match(problem?.('{"ok":false,"error":"not_in_channel"}') ?? "", /not_in_channel/);
    assert.match(problem?.("<html>") ?? "", /not JSON/);
    assert.equal(build("slack", failure, settings(address)).requests[0]?.problem, undefined);
  });

  for (const [from, to] of [
    ["https://discord.com/api/webhooks/1/a", "https://discord.com/api/webhooks/1/a/slack"],
    ["https://discord.com/api/webhooks/1/a/slack", "https://discord.com/api/webhooks/1/a/slack"],
  ] as const)
    test(`has the messages of discord at ${from}`, () => {
      const { url, body: sent } = only("discord", failure, settings(from, { channel: "alerts" }));

      assert.equal(url, to);
      assert.deepEqual(sent, { ...body, channel: "" });
    });
});

describe("msteams", () => {
  test("gets an Adaptive Card, in which an error is red", () => {
    const cardOf = (event: FluxEvent) => {
      const { body } = only("msteams", event, settings("https://prod.logic.azure.com/a"));
      const [attachment] = body["attachments"] as {
        contentType: string;
        content: Record<string, unknown>;
      }[];
      assert.equal(attachment?.contentType, "application/vnd.microsoft.card.adaptive");
      assert.equal(attachment.content["version"], "1.4");
      return attachment.content["body"] as Record<string, unknown>[];
    };
    const [title, text, facts] = cardOf(failure);

    assert.equal(title?.["text"], "helmop/web.prod");
    assert.deepEqual([text?.["text"], text?.["color"]], ["1 of 3 clusters failed", "attention"]);
    assert.deepEqual(facts?.["facts"], [
      { title: "summary", value: "the shop" },
      { title: "a:b", value: "c:d" },
      { title: "revision", value: "1.2.3" },
    ]);
    assert.equal(cardOf(success)[1]?.["color"], undefined);
  });

  test("gets a MessageCard at an address of a connector", () => {
    const { body } = only("msteams", failure, settings("https://a.webhook.office.com/b"));

    assert.deepEqual([body["@type"], body["themeColor"]], ["MessageCard", "FF0000"]);
  });
});

describe("alertmanager", () => {
  const address = "https://alertmanager.example.com/api/v2/alerts";

  test("gets one alert that fires", () => {
    const { body } = only("alertmanager", failure, settings(address));

    assert.deepEqual(body, [
      {
        status: "firing",
        labels: {
          alertname: "FluxHelmOpUpgradefailed",
          severity: "error",
          reason: "UpgradeFailed",
          kind: "HelmOp",
          name: "web",
          namespace: "prod",
          reportingcontroller: "flotilla.dev/hub",
          revision: "1.2.3",
          a_b: "c:d",
        },
        annotations: { message: "1 of 3 clusters failed", summary: "the shop" },
        startsAt: "2026-01-01T00:00:00Z",
        endsAt: "0001-01-01T00:00:00Z",
      },
    ]);
  });

  for (const [more, authorization] of [
    [{}, undefined],
    [{ token: "t" }, "Bearer t"],
    [{ token: "t", username: "u", password: "p" }, "Basic dTpw"],
  ] as const)
    test(`gets ${authorization ?? "no authorization"}`, () => {
      const { headers } = only("alertmanager", failure, settings(address, more));

      assert.equal(headers["authorization"], authorization);
    });
});

describe("pagerduty", () => {
  const of = settings("https://events.pagerduty.com/ignored", { channel: "routing" });

  test("triggers the incident of the object", () => {
    const { url, body } = only("pagerduty", failure, of);

    assert.equal(url, "https://events.pagerduty.com/v2/enqueue");
    assert.deepEqual(body, {
      routing_key: "routing",
      dedup_key: failure.involvedObject.uid,
      event_action: "trigger",
      payload: {
        summary: "upgrade failed: helmop/web",
        source: "Flux flotilla.dev/hub",
        severity: "error",
        timestamp: "2026-01-01T00:00:00Z",
        component: "web",
        group: "HelmOp",
        custom_details: { message: failure.message, metadata: failure.metadata },
      },
    });
  });

  test("resolves it with a success, which is a change besides", () => {
    const { sent } = build("pagerduty", success, of);

    assert.deepEqual(
      sent.map(({ url, body }) => [url, body["event_action"]]),
      [
        ["https://events.pagerduty.com/v2/enqueue", "resolve"],
        ["https://events.pagerduty.com/v2/change/enqueue", undefined],
      ],
    );
    assert.equal(
      builderOf("pagerduty")?.({ ...success, reason: "Progressing" }, of).kind,
      "skipped",
    );
  });
});

test("grafana gets an annotation whose tags have one colon", () => {
  const { body, headers } = only(
    "grafana",
    failure,
    settings("https://g.example.com/api/annotations", { token: "t" }),
  );

  assert.deepEqual(body, {
    when: 1_767_225_600,
    text: "helmop/web.prod",
    tags: [
      "flux",
      "flotilla.dev/hub",
      "revision: 1.2.3",
      "summary: the shop",
      "a|b: c|d",
      "kind: HelmOp",
      "name: web",
      "namespace: prod",
    ],
  });
  assert.equal(headers["authorization"], "Bearer t");
});

describe("the status of a commit", () => {
  const ofCommit: FluxEvent = { ...failure, metadata: { revision: `main@sha1:${sha}` } };
  const id = "helmop/web/9f8e7d6c";

  for (const [type, address, list, set, token, body] of [
    [
      "github",
      "https://github.com/org/repo.git",
      `https://api.github.com/repos/org/repo/commits/${sha}/statuses`,
      `https://api.github.com/repos/org/repo/statuses/${sha}`,
      { authorization: "Bearer t" },
      { state: "failure", context: id, description: "upgrade failed" },
    ],
    [
      "github",
      "https://github.example.com/org/repo",
      `https://github.example.com/api/v3/repos/org/repo/commits/${sha}/statuses`,
      `https://github.example.com/api/v3/repos/org/repo/statuses/${sha}`,
      { authorization: "Bearer t" },
      { state: "failure", context: id, description: "upgrade failed" },
    ],
    [
      "gitlab",
      "https://gitlab.com/group/sub/repo",
      `https://gitlab.com/api/v4/projects/group%2Fsub%2Frepo/repository/commits/${sha}/statuses`,
      `https://gitlab.com/api/v4/projects/group%2Fsub%2Frepo/statuses/${sha}`,
      { "private-token": "t" },
      { state: "failed", name: id, description: "upgrade failed" },
    ],
    [
      "gitea",
      "https://gitea.example.com/org/repo",
      `https://gitea.example.com/api/v1/repos/org/repo/commits/${sha}/statuses`,
      `https://gitea.example.com/api/v1/repos/org/repo/statuses/${sha}`,
      { authorization: "token t" },
      { state: "failure", context: id, description: "upgrade failed" },
    ],
  ] as const)
    test(`is set at ${address} as ${type} has it`, () => {
      const { before, sent } = build(type, ofCommit, settings(address, { token: "t" }));

      assert.equal(before?.request.url.href, list);
      assert.equal(sent[0]?.url, set);
      assert.deepEqual(sent[0].body, body);
      for (const [name, value] of Object.entries(token)) assert.equal(sent[0].headers[name], value);
    });

  test("is not set again when the newest one of its name is the same", () => {
    const { before } = build("github", ofCommit, settings("https://github.com/org/repo"));
    const status = (state: string, context = id) => ({
      state,
      context,
      description: "upgrade failed",
    });
    const isSaid = (...statuses: readonly unknown[]) => before?.isSaid(JSON.stringify(statuses));

    assert.equal(isSaid(status("success", "other"), status("failure"), status("success")), true);
    assert.equal(isSaid(status("success"), status("failure")), false);
    assert.equal(isSaid(), false);
    assert.equal(before?.isSaid("no JSON"), false);
  });

  const of = settings("https://github.com/org/repo");
  const ofRelease: FluxEvent = {
    ...success,
    involvedObject: { ...success.involvedObject, kind: "HelmRelease" },
  };
  for (const [what, metadata, event, kind] of [
    ["a success without the annotation", { revision: `main@sha1:${sha}` }, success, "skipped"],
    ["a success with it", { commit: sha }, success, "send"],
    ["an update", { commit_status: "update", revision: sha }, success, "send"],
    ["a failure whose revision is a chart's version", { revision: "1.2.3" }, failure, "impossible"],
    [
      "a rollback of a chart from Git",
      { originRevision: `sha1:${sha}` },
      { ...ofRelease, reason: "RollbackSucceeded" },
      "skipped",
    ],
    [
      "an upgrade to a chart from Git",
      { originRevision: `sha1:${sha}`, revision: "1.0.0" },
      { ...ofRelease, reason: "UpgradeSucceeded" },
      "send",
    ],
    ["a failure of a chart from Git", { originRevision: `sha1:${sha}` }, failure, "send"],
    ["a failure without a revision", {}, failure, "impossible"],
  ] as const)
    test(`of ${what}: ${kind}`, () => {
      assert.equal(builderOf("github")?.({ ...event, metadata }, of).kind, kind);
    });

  test("is pending in Gitea alone", () => {
    const event = { ...success, reason: "Progressing", metadata: { commit: sha } };
    const gitea = only("gitea", event, settings("https://gitea.example.com/org/repo"));

    assert.equal(gitea.body["state"], "pending");
    assert.equal(builderOf("github")?.(event, of).kind, "skipped");
  });

  test("needs the address of a repository", () => {
    assert.equal(
      builderOf("github")?.(ofCommit, settings("https://github.com/org")).kind,
      "impossible",
    );
  });
});

test("the types are those that the documentation lists, and no name of Object is one", () => {
  assert.deepEqual(providerTypes, [
    ...["generic", "generic-hmac", "slack", "msteams", "discord", "alertmanager", "pagerduty"],
    ...["grafana", "github", "gitlab", "gitea"],
  ]);
  assert.equal(builderOf("toString"), undefined);
  assert.deepEqual(providerTypes.filter(takesCommitUpdates), [
    ...["generic", "generic-hmac", "github", "gitlab", "gitea"],
  ]);
});
