export { ClusterPage } from "./cluster-page.tsx";
