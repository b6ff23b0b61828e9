import assert from "node:assert/strict";
import { describe, test } from "vitest";
import { type Component, formatSbom, goComponents, packageUrl } from "./sbom.ts";

const buildInfo = [
  "/usr/bin/helm: go1.26.8",
  "\tpath\thelm.sh/helm/v4/cmd/helm",
  "\tmod\tflotilla.dev/helm\t(devel)\t",
  "\tdep\tgithub.com/BurntSushi/toml\tv1.6.0\th1:abc=",
  "\tbuild\t-ldflags=-s",
].join("\n");

describe("the list of what an image contains", () => {
  const urls: readonly (readonly [Component, string])[] = [
    [{ kind: "npm", name: "@grpc/grpc-js", version: "1.14.7" }, "pkg:npm/%40grpc/grpc-js@1.14.7"],
    [{ kind: "golang", name: "stdlib", version: "1.26.8" }, "pkg:golang/stdlib@1.26.8"],
    [
      {
        kind: "deb",
        name: "libstdc++6",
        version: "12.2.0-14+deb12u1",
        architecture: "arm64",
        release: "bookworm",
      },
      "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=arm64&distro=bookworm",
    ],
  ];
  for (const [component, url] of urls) {
    test(`names ${component.name} as ${url}`, () => assert.equal(packageUrl(component), url));
  }

  test("has Go and the modules of a program", () => {
    assert.deepEqual(goComponents(buildInfo), [
      { kind: "golang", name: "stdlib", version: "1.26.8" },
      { kind: "golang", name: "flotilla.dev/helm", version: "(devel)" },
      { kind: "golang", name: "github.com/BurntSushi/toml", version: "v1.6.0" },
    ]);
  });

  test("has an entry and a relationship for each component", () => {
    const components = urls.map(([component]) => component);

    const { packages, relationships } = JSON.parse(
      formatSbom({ name: "flotilla-hub", version: "1.0.0", components }),
    ) as { packages: { SPDXID: string; name: string }[]; relationships: object[] };

    assert.deepEqual(
      packages.map(({ name }) => name),
      components.map(({ name }) => name),
    );
    assert.equal(new Set(packages.map(({ SPDXID }) => SPDXID)).size, 3);
    assert.equal(relationships.length, 3);
  });
});
