/** What a content says of the access to its chart's source. */
import assert from "node:assert/strict";
import type { BundleDeploymentOptions } from "@flotilla/shared/api";
import { formatUsed, usedBy } from "@flotilla/shared/referenced";
import { describe, test } from "vitest";
import { httpPin } from "../../testing/index.ts";
import { buildContent, type ContentSource } from "./build-content.ts";

describe("the content of a deployment", () => {
  test("has the access settings of the chart's source", () => {
    const source = { bundleName: "web", options: {}, pin: httpPin("1.2.3") };
    const access = (own: Partial<ContentSource>) => buildContent({ ...source, ...own }).access;

    assert.deepEqual(access({ insecureSkipVerify: false }), { insecureSkipVerify: false });
    assert.deepEqual(access({ accessSecret: "source" }), { secret: "source" });
    assert.deepEqual(access({ accessSecret: "" }), {});
    assert.deepEqual(access({ accessSecret: null }), {});
    assert.deepEqual(access({ caBundle: Buffer.from("pem").toString("base64") }), {
      caBundle: "pem",
    });
  });

  test("names the host that the credentials are for, also when the pin has another host", () => {
    const access = (helm: NonNullable<BundleDeploymentOptions["helm"]>) =>
      buildContent({
        bundleName: "web",
        options: { helm },
        pin: httpPin("1.2.3"),
        accessSecret: "source",
      }).access;
    const repo = "https://charts.example.org";
    const chart = "https://files.example.org/web.tgz";

    assert.deepEqual(access({ repo, chart: "web" }), { secret: "source", repository: repo });
    assert.deepEqual(access({ chart }), { secret: "source", repository: chart });
  });

  test("references its credentials and downstream resources, each once", () => {
    const content = buildContent({
      bundleName: "web",
      options: {
        downstreamResources: [
          { kind: "Secret", name: "source" },
          { kind: "ConfigMap", name: "defaults" },
        ],
      },
      pin: httpPin("1.2.3"),
      accessSecret: "source",
    });

    assert.deepEqual(formatUsed(usedBy(content)), ["ConfigMap/defaults", "Secret/source"]);
  });
});
