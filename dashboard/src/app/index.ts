export { AppPage } from "./app-page.tsx";
