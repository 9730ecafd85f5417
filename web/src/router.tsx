import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import type { ComponentType } from 'react';
import { steadily } from './connection.ts';
import { Gate } from './gate.tsx';
import { BrokenPage, LoadingState, NotFoundPage } from './parts/states.tsx';
import { hasReturned } from './provider.ts';
import { flag, oneOf, parseSearch, readSearch, type SearchFields, stringifySearch, text } from './search.ts';

/** Every page of the dashboard: its path, what its address says after `?`, and where its code is. */

const root = createRootRoute({
  component: () => (
    <Gate>
      <Outlet />
    </Gate>
  ),
  notFoundComponent: NotFoundPage,
});

const getParentRoute = () => root;

/** By which column the tables of a page are sorted, on every page. */
const SORTED = { sort: text };

/** A page: its path, what stands behind its `?`, and its code, which is fetched when it is wanted. */
function page<const Path extends string, const Fields extends SearchFields>(
  path: Path,
  fields: Fields,
  load: () => Promise<ComponentType>,
) {
  return createRoute({
    getParentRoute,
    path,
    validateSearch: readSearch({ ...SORTED, ...fields }),
    component: lazyRouteComponent(steadily(async () => ({ default: await load() }))),
  });
}

/** The path of links with a token: the gate deals with what stands behind their `#`; without that there is nothing here. */
function forToken<const Path extends string>(path: Path) {
  return createRoute({
    getParentRoute,
    path,
    beforeLoad: ({ location }) => {
      if (location.hash === '') throw redirect({ to: '/', replace: true });
    },
  });
}

/** Which tab of a message's contents is open. */
const view = oneOf('html', 'phone', 'text', 'source', 'headers', 'attachments', 'checks');

/** One page for the list and for a message in it, so that the list stays as it is when one is opened. */
const inboxRoute = page(
  '/inbox',
  { q: text, key: text, box: text, view },
  async () => (await import('./pages/inbox/page.tsx')).InboxPage,
);

const inboxMessageRoute = createRoute({ getParentRoute: () => inboxRoute, path: '$id' });

/** The search of the list of relays, and of a relay. */
const relays = { add: text, tab: oneOf('overview', 'edit', 'history') };
const range = oneOf('hour', 'day', 'week', 'month');
const dimension = oneOf('relay', 'domain', 'provider', 'tag', 'key');
/** Over what time, by what, and to what the counts of mail are narrowed; `without`: to mail that has none of it. */
const explore = {
  range: oneOf('day', 'week', 'month', 'quarter'),
  rows: dimension,
  relay: text,
  domain: text,
  provider: text,
  tag: text,
  key: text,
  without: dimension,
};
const level = oneOf('debug', 'info', 'warn', 'error');
const systemTab = oneOf('health', 'storage', 'backup', 'log', 'doctor', 'about');
const routesTab = oneOf('rules', 'explain', 'versions');
const domainTab = oneOf('records', 'keys');
const usersTab = oneOf('users', 'sessions');
const activity = { actor: text, action: text, subject: text };
const reason = oneOf(
  'complaint',
  'unsubscribe',
  'hard_bounce',
  'manual',
  'import',
  'provider',
  'soft_bounces',
);
const by = oneOf('relay', 'domain', 'tag');
const days = oneOf('7', '30', '90');
const reportsTab = oneOf('senders', 'received', 'tls');
const alertsTab = oneOf('alerts', 'rules', 'channels');
const settings = { q: text, revoked: flag };
/** Which deliveries of an endpoint are shown, and the sequence of the event whose delivery is open. */
const deliveries = { status: oneOf('pending', 'delivered', 'failed'), event: text };
/** Which part of a template is edited, how it is shown, and which of its versions is compared with which. */
const template = {
  tab: oneOf('edit', 'history'),
  part: oneOf('html', 'text', 'sample'),
  look: oneOf('desktop', 'phone', 'text'),
  dark: flag,
  version: text,
  against: text,
};
const requests = {
  key: text,
  show: oneOf('refused', 'accepted', 'unknown'),
  kind: oneOf('api', 'smtp'),
  source: text,
  message: text,
};

// Apart from the tree: inside its call the types of paths and searches would be lost.
const pages = [
  page('/', { range, live: flag }, async () => (await import('./pages/overview/page.tsx')).OverviewPage),
  page('/messages', { q: text }, async () => (await import('./pages/messages/page.tsx')).MessagesPage),
  page('/messages/$id', { view }, async () => (await import('./pages/message/page.tsx')).MessagePage),
  page('/queue', { relay: text }, async () => (await import('./pages/queue/page.tsx')).QueuePage),
  inboxRoute.addChildren([inboxMessageRoute]),
  page('/relays', relays, async () => (await import('./pages/relays/page.tsx')).RelaysPage),
  page('/relays/$name', relays, async () => (await import('./pages/relay/page.tsx')).RelayPage),
  page('/routes', { tab: routesTab }, async () => (await import('./pages/routes/page.tsx')).RoutesPage),
  page('/domains', {}, async () => (await import('./pages/domains/page.tsx')).DomainsPage),
  page(
    '/domains/$name',
    { tab: domainTab },
    async () => (await import('./pages/domain/page.tsx')).DomainPage,
  ),
  page(
    '/suppressions',
    { q: text, reason, id: text },
    async () => (await import('./pages/suppressions/page.tsx')).SuppressionsPage,
  ),
  page('/explore', explore, async () => (await import('./pages/explore/page.tsx')).ExplorePage),
  page(
    '/reputation',
    { by, days, name: text, untagged: flag },
    async () => (await import('./pages/reputation/page.tsx')).ReputationPage,
  ),
  page(
    '/reports',
    { tab: reportsTab, days, domain: text, source: text, many: flag },
    async () => (await import('./pages/reports/page.tsx')).ReportsPage,
  ),
  page('/templates', { q: text }, async () => (await import('./pages/templates/page.tsx')).TemplatesPage),
  page('/templates/$alias', template, async () => (await import('./pages/template/page.tsx')).TemplatePage),
  page('/webhooks', {}, async () => (await import('./pages/webhooks/page.tsx')).WebhooksPage),
  page('/webhooks/$id', deliveries, async () => (await import('./pages/webhook/page.tsx')).WebhookPage),
  createRoute({
    getParentRoute,
    path: '/settings',
    beforeLoad: () => {
      throw redirect({ to: '/settings/$section', params: { section: 'api-keys' }, replace: true });
    },
  }),
  page('/settings/$section', settings, async () => (await import('./pages/settings/page.tsx')).SettingsPage),
  page('/requests', requests, async () => (await import('./pages/requests/page.tsx')).RequestsPage),
  page('/users', { tab: usersTab }, async () => (await import('./pages/users/page.tsx')).UsersPage),
  page('/account', {}, async () => (await import('./pages/account/page.tsx')).AccountPage),
  page('/first-steps', {}, async () => (await import('./pages/first-steps/page.tsx')).FirstStepsPage),
  page(
    '/alerts',
    { tab: alertsTab, id: text },
    async () => (await import('./pages/alerts/page.tsx')).AlertsPage,
  ),
  page('/privacy', {}, async () => (await import('./pages/privacy/page.tsx')).PrivacyPage),
  page('/activity', activity, async () => (await import('./pages/activity/page.tsx')).ActivityPage),
  page(
    '/system',
    { tab: systemTab, level, q: text },
    async () => (await import('./pages/system/page.tsx')).SystemPage,
  ),
  // Where an identity provider returns to: the gate deals with that when the page is loaded; later there is nothing here.
  createRoute({
    getParentRoute,
    path: '/sign-in/callback',
    beforeLoad: () => {
      if (!hasReturned) throw redirect({ to: '/', replace: true });
    },
  }),
  forToken('/setup'),
  forToken('/story'),
] as const;

/** The router of the dashboard. */
export const router = createRouter({
  routeTree: root.addChildren(pages),
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultPendingComponent: () => <LoadingState lines={6} />,
  defaultErrorComponent: ({ error }) => (
    <BrokenPage error={error instanceof Error ? error : new Error(String(error))} />
  ),
  defaultNotFoundComponent: NotFoundPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
