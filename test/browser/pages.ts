/** Every page of the dashboard, for the tests and pictures that look at all of them. */

/** A page. */
export interface LookedAt {
  /** What its picture is called. */
  readonly name: string;
  readonly path: string;
  /** Its heading. */
  readonly heading: string | RegExp;
}

/** What stands in the paths of pages of single things. */
export interface Things {
  readonly delivered: string;
  readonly failed: string;
  readonly captured: string;
  /** Was captured, and is not as mail should be. */
  readonly faulty: string;
  /** The alias of a template in several versions. */
  readonly template: string;
  /** Came back for one of its recipients; another called it spam. */
  readonly bounced: string;
  /** Was not sent, because of what had come back. */
  readonly suppressed: string;
  /** An endpoint that nobody answers at. */
  readonly webhook: string;
}

const SECTIONS = [
  'api-keys',
  'http-api',
  'smtp',
  'certificate',
  'delivery',
  'retention',
  'security',
  'limits',
  'server',
  'all',
];

/** The pages of a populated dashboard. */
export function pagesOf(things: Things): readonly LookedAt[] {
  const { delivered, failed, captured, faulty, template, bounced, suppressed, webhook } = things;
  return [
    { name: 'overview', path: '/', heading: 'Overview' },
    { name: 'overview-live', path: '/?live=1', heading: 'Overview' },
    { name: 'messages', path: '/messages', heading: 'Messages' },
    { name: 'messages-none-found', path: '/messages?q=nothingofthekind', heading: 'Messages' },
    { name: 'message', path: `/messages/${delivered}`, heading: /invoice/i },
    { name: 'message-failed', path: `/messages/${failed}`, heading: /nobody/i },
    { name: 'message-bounced', path: `/messages/${bounced}`, heading: /collection/i },
    { name: 'message-suppressed', path: `/messages/${suppressed}`, heading: /second try/i },
    { name: 'queue', path: '/queue', heading: 'Queue' },
    { name: 'explore', path: '/explore', heading: 'Explore' },
    { name: 'explore-domain', path: '/explore?domain=example.net&rows=tag', heading: 'Explore' },
    { name: 'inbox', path: '/inbox', heading: 'Inbox' },
    { name: 'inbox-message', path: `/inbox/${captured}`, heading: 'Inbox' },
    { name: 'inbox-checks', path: `/inbox/${faulty}?view=checks`, heading: 'Inbox' },
    { name: 'message-checks', path: `/messages/${delivered}?view=checks`, heading: /invoice/i },
    { name: 'relays', path: '/relays', heading: 'Relays' },
    { name: 'relay', path: '/relays/out', heading: 'out' },
    { name: 'relay-add', path: '/relays?add=choose', heading: /relay/i },
    { name: 'routes', path: '/routes', heading: 'Routes' },
    { name: 'suppressions', path: '/suppressions', heading: 'Suppressions' },
    { name: 'suppressions-none-found', path: '/suppressions?q=nobody@example.org', heading: 'Suppressions' },
    { name: 'reputation', path: '/reputation', heading: 'Reputation' },
    { name: 'reputation-domains', path: '/reputation?by=domain', heading: 'Reputation' },
    { name: 'reputation-tags', path: '/reputation?by=tag&days=7&name=news', heading: 'Reputation' },
    { name: 'reports', path: '/reports', heading: 'Reports' },
    {
      name: 'reports-source',
      path: '/reports?domain=example.com&source=203.0.113.77',
      heading: '203.0.113.77',
    },
    { name: 'reports-received', path: '/reports?tab=received', heading: 'Reports' },
    { name: 'reports-tls', path: '/reports?tab=tls', heading: 'Reports' },
    { name: 'reports-none', path: '/reports?domain=example.org&days=7', heading: 'Reports' },
    { name: 'alerts', path: '/alerts', heading: 'Alerts' },
    { name: 'alerts-rules', path: '/alerts?tab=rules', heading: 'Alerts' },
    { name: 'alerts-channels', path: '/alerts?tab=channels', heading: 'Alerts' },
    { name: 'domains', path: '/domains', heading: 'Domains' },
    { name: 'domain', path: '/domains/example.com', heading: 'example.com' },
    { name: 'templates', path: '/templates', heading: 'Templates' },
    { name: 'templates-none-found', path: '/templates?q=nothingofthekind', heading: 'Templates' },
    { name: 'template', path: `/templates/${template}`, heading: 'Order received' },
    {
      name: 'template-dark',
      path: `/templates/${template}?part=sample&look=phone&dark=1`,
      heading: 'Order received',
    },
    { name: 'template-history', path: `/templates/${template}?tab=history`, heading: 'Order received' },
    { name: 'template-version', path: `/templates/${template}?tab=history&version=3`, heading: 'Version 3' },
    { name: 'webhooks', path: '/webhooks', heading: 'Webhooks' },
    { name: 'webhook', path: `/webhooks/${webhook}`, heading: /waybill/ },
    ...SECTIONS.map((name) => ({ name: `settings-${name}`, path: `/settings/${name}`, heading: 'Settings' })),
    { name: 'requests', path: '/requests', heading: 'Requests' },
    { name: 'requests-none-found', path: '/requests?key=printer&show=refused', heading: 'Requests' },
    { name: 'users', path: '/users', heading: 'Users' },
    { name: 'account', path: '/account', heading: /account|admin/i },
    { name: 'first-steps', path: '/first-steps', heading: 'First steps' },
    { name: 'privacy', path: '/privacy', heading: 'Privacy' },
    { name: 'activity', path: '/activity', heading: 'Activity' },
    { name: 'system', path: '/system', heading: 'System' },
    { name: 'not-found', path: '/nowhere', heading: /not|no/i },
  ];
}
