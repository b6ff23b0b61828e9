import assert from "node:assert/strict";
import { describe, it } from "vitest";
import { accessTo } from "../index.ts";
import { createTestClient, type Respond, send, startTestServer } from "../testing/index.ts";
import { nextPage } from "./tags.ts";

const tags = Array.from({ length: 10_000 }, (_, at) => `1.0.${at}`);

/** Pages of `size` tags with a link to the next, as in the distribution specification. */
function pages(size: number, origin = ""): Respond {
  return ({ path }, response) => {
    const from = Number(new URL(path, "http://x").searchParams.get("from") ?? 0);
    const link = `<${origin}/v2/charts/x/tags/list?from=${from + size}>; rel="next"`;
    send(
      response,
      200,
      JSON.stringify({ tags: tags.slice(from, from + size) }),
      from + size < tags.length ? { link } : {},
    );
  };
}

async function list(
  respond: Respond,
  settings = {},
): Promise<{ readonly count: number; readonly paths: readonly string[] }> {
  await using server = await startTestServer(respond);
  await using client = createTestClient();
  const source = { kind: "oci", repository: `oci://${server.host}/charts/x` } as const;
  const listing = await client.list(source, accessTo(source, { plainHttp: true, ...settings }));
  return { count: listing?.versions.length ?? 0, paths: server.paths() };
}

describe("the tags of a repository", () => {
  it("are listed from all pages", async () => {
    const { count, paths } = await list(pages(300));

    assert.equal(count, 10_000);
    assert.equal(paths.length, 34);
  });

  it("are listed in smaller pages when large ones are rejected", async () => {
    const { count, paths } = await list((request, response) => {
      if (request.path.endsWith("n=10000")) return send(response, 405, "");
      return pages(tags.length)(request, response);
    });

    assert.equal(count, 10_000);
    assert.deepEqual(paths, ["/v2/charts/x/tags/list?n=10000", "/v2/charts/x/tags/list?n=1000"]);
  });

  it("are requested from another host without credentials", async () => {
    await using other = await startTestServer(pages(tags.length));
    await using server = await startTestServer(({ headers }, response) => {
      if (headers.authorization === undefined)
        return send(response, 401, "", { "www-authenticate": 'Basic realm="x"' });
      send(response, 200, '{"tags":["0.0.1"]}', {
        link: `<${other.origin}/v2/charts/x/tags/list>; rel=next`,
      });
    });
    await using client = createTestClient();
    const source = { kind: "oci", repository: `oci://${server.host}/charts/x` } as const;

    const listing = await client.list(source, accessTo(source, { username: "me", password: "pw" }));

    assert.equal(listing?.versions.length, 10_001);
    assert.equal(other.seen[0]?.headers.authorization, undefined);
  });

  it("whose pages link to each other in a loop are not listed", async () => {
    const circle: Respond = (_, response) =>
      send(response, 200, '{"tags":["1.0.0"]}', {
        link: '</v2/charts/x/tags/list?a=1>; rel="next"',
      });

    await assert.rejects(list(circle), {
      code: "REGISTRY_ANSWER",
      message: /pages link to each other in a loop/,
    });
  });

  it("are not listed beyond a limit", async () => {
    let page = 0;
    const endless: Respond = (_, response) =>
      send(response, 200, '{"tags":[]}', {
        link: `</v2/charts/x/tags/list?a=${page++}>; rel="next"`,
      });

    await assert.rejects(list(endless), {
      code: "REGISTRY_ANSWER",
      message: /more than 100000 tags or 500 pages/,
    });
  });

  it("are an empty list when the last one was deleted", async () => {
    const { count } = await list((_, response) =>
      send(response, 200, '{"name":"charts/x","tags":null}'),
    );

    assert.equal(count, 0);
  });

  it("with invalid names are skipped", async () => {
    const { count } = await list((_, response) =>
      send(response, 200, '{"tags":["1.0.0","../x","",7]}'),
    );

    assert.equal(count, 1);
  });
});

describe("the link to the next page", () => {
  const cases: readonly (readonly [link: string | undefined, next: string | undefined])[] = [
    ['</v2/a/tags/list?last=b&n=2>; rel="next"', "https://r/v2/a/tags/list?last=b&n=2"],
    ['<https://other/x>; title="a, b"; rel=next', "https://other/x"],
    ['</a>; rel="prev", </b>; rel="last next"', "https://r/b"],
    ['</a>; rel="nextish"', undefined],
    ["</a>", undefined],
    [undefined, undefined],
  ];
  for (const [link, next] of cases) {
    it(`of ${link ?? "nothing"} is ${next ?? "nothing"}`, () => {
      const url = nextPage({
        url: new URL("https://r/v2/a/tags/list"),
        headerValues: () => (link === undefined ? [] : [link]),
      });

      assert.equal(url?.href, next);
    });
  }
});
