/**
 * A server that is made to stop the hub: buckets whose lists do not end, of pages as large and as slow to read as the hub accepts,
 * and a registry with as many tags as it accepts.
 */
import { type Bucket, buckets, type OCIRepository, ociRepositories } from "@flotilla/shared/flux";
import type { KubeRest } from "@flotilla/shared/kube/client";
import { send, startTestServer, type TestServer } from "@flotilla/shared/source/testing";

const each = 2;
const tags = 100_000;
const tagsOfPage = 20_000;

/** Elements and entities cost the most time. */
const contents = `<Contents><Key>${"k".repeat(150)}</Key><ETag>${"&#x41;".repeat(2)}</ETag><Size>1</Size></Contents>`;
const objects = contents.repeat(4_900);

/** The page after the `at`th one. */
function listPage(at: number): string {
  return `<ListBucketResult>${objects}<IsTruncated>true</IsTruncated><NextContinuationToken>${at}</NextContinuationToken></ListBucketResult>`;
}

function tagsPage(page: number): string {
  const names = Array.from({ length: tagsOfPage }, (_, at) => `1.${page}.${at}-${"b".repeat(40)}`);
  return JSON.stringify({ name: "hostile", tags: names });
}

export async function startHostileServer(): Promise<TestServer> {
  const pages = Array.from({ length: tags / tagsOfPage }, (_, page) => tagsPage(page));
  return startTestServer((request, response) => {
    const { pathname, searchParams } = new URL(request.path, "http://server");
    if (pathname.endsWith("/tags/list")) {
      const page = Number(searchParams.get("page") ?? 0);
      const more = page + 1 < pages.length;
      return send(response, 200, pages[page] ?? "", {
        "content-type": "application/json",
        ...(more && { link: `<${pathname}?page=${page + 1}>; rel="next"` }),
      });
    }
    if (searchParams.has("list-type"))
      return send(response, 200, listPage(Number(searchParams.get("continuation-token") ?? 0) + 1));
    return send(response, pathname === "/v2/" ? 200 : 404, "");
  });
}

/** Buckets and OCIRepositories of that server. */
export function hostileSources(
  namespace: string,
  host: string,
): { readonly buckets: readonly Bucket[]; readonly ociRepositories: readonly OCIRepository[] } {
  const apiVersion = "source.toolkit.fluxcd.io/v1";
  const named = (what: string) =>
    Array.from({ length: each }, (_, at) => ({ namespace, name: `${what}-${at}` }));
  return {
    buckets: named("endless").map((metadata) => ({
      ...{ apiVersion, kind: "Bucket", metadata },
      spec: {
        ...{ endpoint: host, insecure: true, bucketName: metadata.name },
        ...{ interval: "1h", timeout: "60s", provider: "generic" },
      },
    })),
    ociRepositories: named("tagged").map((metadata) => ({
      ...{ apiVersion, kind: "OCIRepository", metadata },
      spec: {
        ...{ url: `oci://${host}/${metadata.name}`, insecure: true },
        ...{ interval: "1h", timeout: "60s", provider: "generic" },
        ref: { semver: ">=0.0.0-0", semverFilter: "(b?){40}c$" },
      },
    })),
  };
}

export async function createHostileSources(
  hub: Pick<KubeRest, "create">,
  sources: ReturnType<typeof hostileSources>,
): Promise<void> {
  await Promise.all([
    ...sources.buckets.map((bucket) => hub.create<Bucket>(buckets, bucket)),
    ...sources.ociRepositories.map((each) => hub.create<OCIRepository>(ociRepositories, each)),
  ]);
}
