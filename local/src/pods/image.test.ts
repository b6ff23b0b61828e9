import assert from "node:assert/strict";
import { test } from "vitest";
import { findImage, type LocalImage, parseDockerfile, readLocalImages } from "./image.ts";

test("reads how the images of Flotilla run from their Dockerfiles", async () => {
  const images = await readLocalImages({ hub: "/trees/hub", agent: "/trees/agent" });

  assert.deepEqual(images["flotilla/hub"], {
    dir: "/trees/hub",
    entrypoint: ["/usr/bin/node", "--max-semi-space-size=4", "/opt/flotilla/bin/flotilla-hub.js"],
    environment: {
      PATH: "/usr/bin",
      HOME: "/tmp",
      SSL_CERT_FILE: "/etc/ssl/certs/ca-certificates.crt",
    },
    user: 65_532,
    group: 65_532,
    workingDir: "/tmp",
  });
  assert.throws(() => parseDockerfile("FROM scratch\n"), { code: "IMAGE_BUILD_FAILED" });
});

test("finds an image by its repository, whatever its registry, tag and digest", () => {
  const image: LocalImage = {
    dir: "",
    ...parseDockerfile('ENV A=1\nUSER 1:1\nWORKDIR /\nENTRYPOINT ["/a"]'),
  };
  const images = { "flotilla/hub": image };

  for (const reference of [
    "flotilla/hub",
    "flotilla/hub:1.0.0",
    "registry.example.com:5000/flotilla/hub:1.0.0",
    "registry.example.com/flotilla/hub@sha256:abc",
  ])
    assert.equal(findImage(images, reference), image, reference);
  assert.equal(findImage(images, "flotilla/agent:1.0.0"), undefined);
  assert.equal(findImage(images, "flotilla/hubble"), undefined);
});
