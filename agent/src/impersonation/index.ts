export {
  createImpersonatedClients,
  type ImpersonatedClient,
  type ImpersonatedClients,
} from "./impersonated-clients.ts";
