import type { ResultOf } from '../../../../src/operations/table.ts';

/** A user as the server tells of them. */
export type User = ResultOf<'users'>[number];
/** What someone may do. */
export type Role = User['role'];

/** What each role may do, to choose from. */
export const ROLES: readonly { readonly value: Role; readonly label: string; readonly note: string }[] = [
  { value: 'viewer', label: 'Viewer', note: 'Sees mail, queue and relays, and changes nothing.' },
  {
    value: 'operator',
    label: 'Operator',
    note: 'Acts on mail and the queue: retries, cancels, holds, releases.',
  },
  {
    value: 'admin',
    label: 'Administrator',
    note: 'Changes relays, routes, domains, keys, settings and users.',
  },
];

/** What a role is called. */
export function roleLabel(role: Role): string {
  return ROLES.find(({ value }) => value === role)?.label ?? role;
}
