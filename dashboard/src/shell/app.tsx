/** The frame of all pages: navigation, whether the data is live, and the user. */
import { Suspense } from "react";
import { Link, useLocation } from "wouter";
import { sections } from "../address/index.ts";
import { FleetProvider } from "../fleet/index.ts";
import { Palette } from "../palette/index.ts";
import { Logo } from "../session/index.ts";
import { FailedPage, reloadOnce } from "./failed-page.tsx";
import { LiveIndicator } from "./live-indicator.tsx";
import { Pages } from "./pages.tsx";
import { UserMenu } from "./user-menu.tsx";
import "./theme.css";
import "./base.css";
import "./app.css";

export function App() {
  const [location] = useLocation();
  return (
    <FleetProvider>
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <header className="shell-header">
        <Link href="/" className="shell-name">
          <Logo /> Flotilla
        </Link>
        <Sections location={location} />
        <Palette />
        <LiveIndicator />
        <UserMenu />
      </header>
      <main id="content" className="shell-content" tabIndex={-1}>
        <FailedPage key={location} reload={reloadOnce}>
          <Suspense fallback={<div className="page-loading" aria-busy="true" />}>
            <Pages />
          </Suspense>
        </FailedPage>
      </main>
    </FleetProvider>
  );
}

function Sections({ location }: { readonly location: string }) {
  return (
    <nav aria-label="Pages" className="shell-sections">
      {sections.map(({ href, name }) => (
        <Link key={href} href={href} aria-current={isCurrent(location, href) ? "page" : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

function isCurrent(location: string, href: string): boolean {
  return href === "/" ? location === "/" : location.startsWith(href);
}
