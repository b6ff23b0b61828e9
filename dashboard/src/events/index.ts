export { EventsPage } from "./events-page.tsx";
