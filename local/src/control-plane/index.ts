export { type ApiClient, apiClient } from "./api-client.ts";
export { copyEtcdData, readPorts } from "./cluster-dir.ts";
export {
  type ControlPlane,
  type ControlPlaneBinaries,
  controlPlaneTools,
} from "./control-plane.ts";
export {
  formatKubeconfig,
  type KubeconfigEntry,
  parseKubeconfig,
  writeKubeconfig,
} from "./kubeconfig.ts";
export { stopControlPlaneIn } from "./parts.ts";
export { ensureServerCertificate } from "./pki.ts";
export { startControlPlane } from "./start-control-plane.ts";
