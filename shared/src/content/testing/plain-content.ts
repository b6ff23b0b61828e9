/** A deployment's content for tests that are about something else. */
import type { DeploymentContent } from "../content.ts";

/** What the hub makes of a HelmOp that names a chart, a release and a namespace, and leaves the rest at its defaults. */
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
