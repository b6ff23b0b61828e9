/** A default content for tests. */
import type { DeploymentContent } from "../index.ts";

/** The content of a HelmOp with a chart, a release name and a namespace, and defaults otherwise. */
export const plainContent: DeploymentContent = {
  format: 1,
  pin: { kind: "tarball", url: "https://charts.example.com/app.tgz" },
  releaseName: "app",
  namespace: "shop",
  createNamespace: true,
  valuesAreTemplates: true,
  helm: {
    timeoutSeconds: 0,
    atomic: false,
    force: false,
    takeOwnership: false,
    waitForJobs: false,
    skipSchemaValidation: false,
    maxHistory: 2,
  },
  access: {},
  keepResources: false,
};
