import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { Gate } from './gate.tsx';
import { BrokenPage, NotFoundPage } from './parts/problem-pages.tsx';
import { LoadingState } from './parts/states.tsx';
import { flag, oneOf, parseSearch, readSearch, stringifySearch, text } from './search.ts';

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

/** Which tab of a message's contents is open. */
const view = oneOf('html', 'phone', 'text', 'source', 'headers', 'attachments');

/** One page for the list and for a message in it, so that the list stays as it is when one is opened. */
const inboxRoute = createRoute({
  getParentRoute,
  path: '/inbox',
  validateSearch: readSearch({
    q: text,
    key: text,
    view,
  }),
  component: lazyRouteComponent(() => import('./pages/inbox/page.tsx'), 'InboxPage'),
});

const inboxMessageRoute = createRoute({ getParentRoute: () => inboxRoute, path: '$id' });

/** The search of the list of relays, and of a relay. */
const relays = readSearch({ add: text, tab: oneOf('overview', 'edit', 'history') });

// Apart from the tree: inside its call the types of paths and searches would be lost.
const pages = [
  createRoute({
    getParentRoute,
    path: '/',
    validateSearch: readSearch({ range: oneOf('hour', 'day', 'week', 'month') }),
    component: lazyRouteComponent(() => import('./pages/overview/page.tsx'), 'OverviewPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/messages',
    validateSearch: readSearch({ q: text }),
    component: lazyRouteComponent(() => import('./pages/messages/page.tsx'), 'MessagesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/messages/$id',
    validateSearch: readSearch({
      view,
    }),
    component: lazyRouteComponent(() => import('./pages/message/page.tsx'), 'MessagePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/queue',
    validateSearch: readSearch({ relay: text }),
    component: lazyRouteComponent(() => import('./pages/queue/page.tsx'), 'QueuePage'),
  }),
  inboxRoute.addChildren([inboxMessageRoute]),
  createRoute({
    getParentRoute,
    path: '/relays',
    validateSearch: relays,
    component: lazyRouteComponent(() => import('./pages/relays/page.tsx'), 'RelaysPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/relays/$name',
    validateSearch: relays,
    component: lazyRouteComponent(() => import('./pages/relay/page.tsx'), 'RelayPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/routes',
    validateSearch: readSearch({ tab: oneOf('rules', 'explain', 'versions') }),
    component: lazyRouteComponent(() => import('./pages/routes/page.tsx'), 'RoutesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/domains',
    component: lazyRouteComponent(() => import('./pages/domains/page.tsx'), 'DomainsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/domains/$name',
    validateSearch: readSearch({ tab: oneOf('records', 'keys') }),
    component: lazyRouteComponent(() => import('./pages/domain/page.tsx'), 'DomainPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    beforeLoad: () => {
      throw redirect({ to: '/settings/$section', params: { section: 'api-keys' }, replace: true });
    },
  }),
  createRoute({
    getParentRoute,
    path: '/settings/$section',
    validateSearch: readSearch({ q: text, revoked: flag }),
    component: lazyRouteComponent(() => import('./pages/settings/page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/users',
    validateSearch: readSearch({ tab: oneOf('users', 'sessions') }),
    component: lazyRouteComponent(() => import('./pages/users/page.tsx'), 'UsersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/account',
    component: lazyRouteComponent(() => import('./pages/account/page.tsx'), 'AccountPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/first-steps',
    component: lazyRouteComponent(() => import('./pages/first-steps/page.tsx'), 'FirstStepsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/activity',
    validateSearch: readSearch({ actor: text, action: text, subject: text }),
    component: lazyRouteComponent(() => import('./pages/activity/page.tsx'), 'ActivityPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/system',
    validateSearch: readSearch({
      tab: oneOf('health', 'storage', 'backup', 'log', 'doctor', 'about'),
      level: oneOf('debug', 'info', 'warn', 'error'),
      q: text,
    }),
    component: lazyRouteComponent(() => import('./pages/system/page.tsx'), 'SystemPage'),
  }),
  // The set-up link's path: the gate deals with what stands behind its `#`; without that there is nothing here.
  createRoute({
    getParentRoute,
    path: '/setup',
    beforeLoad: ({ location }) => {
      if (location.hash === '') throw redirect({ to: '/', replace: true });
    },
  }),
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
