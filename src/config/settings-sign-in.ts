import { ROLES } from '../domain/account.ts';
import type { GroupRole } from '../domain/identity.ts';
import {
  choice,
  flag,
  integer,
  listOf,
  mailAddress,
  mailDomain,
  orNull,
  path,
  publicUrl,
  text,
} from './kinds.ts';
import { type RowValues, rowField, rowsOf } from './rows.ts';
import { live, outside } from './setting.ts';

/** How users sign in to the dashboard, and for how long; `sign_in.oidc` is the identity provider that they may use. */

/** More is a mistake. */
const MAX_SCOPES = 20;
const MAX_DEPTH = 8;

const issuer = text(
  'the issuer of an OpenID Connect provider as it writes it, such as https://sso.example.com/realms/main, without query and fragment',
  (raw) => /^https?:\/\/[^\s?#]+$/.test(raw) && URL.canParse(raw) && new URL(raw).username === '',
);
const oneLine = (max: number) => text(`1 to ${max} characters on one line`, (raw) => isLine(raw, max));
const scope = text('a scope without spaces (RFC 6749 §3.3)', (raw) =>
  /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(raw),
);

/** The members of a row, in the order in which they are documented. */
export const GROUP_ROLE_FIELDS = {
  group: rowField(oneLine(500), undefined, 'A group, exactly as the provider writes it.'),
  role: rowField(choice(...ROLES), undefined, 'What its members may do.'),
};

const groupRoles = rowsOf(GROUP_ROLE_FIELDS, {
  from: ({ group, role }: RowValues<typeof GROUP_ROLE_FIELDS>): GroupRole => ({ group, role }),
  to: ({ group, role }) => ({ group, role }),
});

/** The settings of sessions of the dashboard. */
export const SESSION_SETTINGS = {
  'webui.session_timeout_minutes': live(
    integer(1, 525_600, 'minutes'),
    480,
    'How long a session may be idle before the user must sign in again.',
  ),
  'webui.session_max_hours': live(
    integer(1, 8760, 'hours'),
    168,
    'How long a session lasts, however much it is used. A change applies to new sessions.',
  ),
  'webui.max_sessions_per_user': live(
    integer(1, 1000),
    20,
    'Most concurrent sessions of a user. One more ends the one that has been unused longest.',
  ),
  'webui.max_saved_views': live(
    integer(1, 1000),
    50,
    'Most views that a user saves, such as searches for messages. One more is refused.',
  ),
  'webui.invitation_from': live(
    orNull(mailAddress, 'postmaster at the name of this server'),
    null,
    'The sender of the mail by which users of the dashboard get their links: an address that the relays may send from. null means the postmaster of `server.hostname`.',
  ),
  'webui.story_link_max_days': live(
    integer(0, 30, 'days'),
    30,
    "How long a link to a message's story lasts at most, which shows it to whoever has the link, without signing in. 0: nobody makes such links, and those that were made show nothing.",
  ),
};

/** The settings of signing in with a provider. Whoever sets them decides who is an administrator. */
export const SIGN_IN_SETTINGS = {
  'sign_in.oidc.issuer': outside(
    live(
      orNull(issuer, 'nobody signs in with a provider'),
      null,
      'The issuer of the OpenID Connect provider that users may sign in with, exactly as it writes it. Its configuration is fetched from there. null means that there is none; see docs/sign-in.md.',
    ),
  ),
  'sign_in.oidc.client_id': outside(
    live(
      orNull(oneLine(500), 'nobody signs in with a provider'),
      null,
      'The id under which the provider knows this dashboard.',
    ),
  ),
  'sign_in.oidc.client_secret': outside({
    ...live(
      orNull(oneLine(2000), 'a public client'),
      null,
      'The secret that belongs to the id. null means a public client, which PKCE alone protects.',
    ),
    secret: true,
  }),
  'sign_in.oidc.name': outside(
    live(oneLine(40), 'single sign-on', 'What the provider is called on the button: “Sign in with …”.'),
  ),
  'sign_in.oidc.public_url': outside(
    live(
      orNull(publicUrl, 'the address of the page that asks'),
      null,
      'The URL of the dashboard, such as https://mail.example.com:8420. The provider must be told that it may return to it, with `/sign-in/callback` at the end. null means the address under which the page is open.',
    ),
  ),
  'sign_in.oidc.scopes': outside(
    live(
      listOf(scope, 1, MAX_SCOPES),
      ['openid', 'profile', 'email'],
      'What the provider is asked for; `openid` must be among it. Some have a scope of its own for groups.',
    ),
  ),
  'sign_in.oidc.groups_claim': outside(
    live(
      listOf(oneLine(200), 1, MAX_DEPTH),
      ['groups'],
      'Where a user’s groups are among the claims. With more than one name, each is inside the one before: `[realm_access, roles]`.',
    ),
  ),
  'sign_in.oidc.roles': outside(
    live(
      groupRoles,
      [],
      'Which group gives which role; of several, the one that may do most. It is looked up at every sign-in. See [sign_in.oidc.roles](#sign_inoidcroles).',
    ),
  ),
  'sign_in.oidc.default_role': outside(
    live(
      orNull(choice(...ROLES), 'they may not sign in'),
      null,
      'The role of users who are in none of these groups. null means that they may not sign in.',
    ),
  ),
  'sign_in.oidc.email_domains': outside(
    live(
      listOf(mailDomain),
      [],
      'Only users with an address in one of these domains, which the provider says that it has verified. Empty means that no address is asked for.',
    ),
  ),
  'sign_in.oidc.session_hours': outside(
    live(
      integer(1, 8760, 'hours'),
      12,
      'How long the session of such a user lasts, at most `webui.session_max_hours`. Then the provider is asked again, and with it the groups.',
    ),
  ),
  'sign_in.oidc.ca_file': outside(
    live(
      orNull(path, 'those that Node.js trusts'),
      null,
      'PEM file with the certificates of authorities that the provider’s certificate may be from, instead of the public ones.',
    ),
  ),
  'sign_in.oidc.allow_http': outside(
    live(
      flag,
      false,
      'Whether the provider may be reached over plain HTTP. Only for trying it out: whoever can change what is on the way becomes administrator.',
      'seldom',
    ),
  ),
};

function isLine(raw: string, max: number): boolean {
  return raw.length <= max && /^[^\p{Cc}\p{Zl}\p{Zp}]+$/u.test(raw) && raw.trim() === raw;
}
