import assert from "node:assert/strict";
import { test } from "vitest";
import { openApiDocument } from "./open-api.ts";

const { paths } = openApiDocument("1.2.3") as unknown as {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
};

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: { readonly 200: { readonly content: Readonly<Record<string, Content>> } };
}
interface Content {
  readonly schema: { readonly title?: string; readonly items?: { readonly title: string } };
}

const named = (path: string, where: string) =>
  paths[path]?.get.parameters.filter((each) => each.in === where).map(({ name }) => name);

test("the document has the parameters of paths and queries", () => {
  assert.deepEqual(named("/api/v1/changes", "query"), ["after"]);
  assert.deepEqual(named("/api/v1/login/oidc", "query"), ["return"]);
  assert.deepEqual(named("/api/v1/clusters/{namespace}/{name}", "path"), ["namespace", "name"]);
});

test("the document has the schemas of streams", () => {
  const { content } = paths["/api/v1/changes"]?.get.responses[200] ?? {};
  assert.equal(content?.["text/event-stream"]?.schema.items?.title, "Change");
  const release = "/api/v1/clusters/{namespace}/{name}/releases/{appKind}/{appNamespace}/{appName}";
  const answer = paths[`${release}/{request}`]?.get.responses[200].content;
  assert.equal(answer?.["application/x-ndjson"]?.schema.title, "AnswerLine");
});
