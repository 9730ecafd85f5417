import type { Found } from '../accounts/sessions.ts';
import type { FirstSteps, SessionUser, SessionView } from './contract.ts';

/** What is told of this installation to those who are signed in. */
export interface Surroundings {
  readonly version: string;
  /** `webui.session_timeout_minutes` */
  readonly idleMs: () => number;
  /** How the API and the SMTP listener are reached by someone who reaches us by this host name. */
  readonly pointers: (host: string) => Pointers;
  readonly firstSteps: FirstStepsBook;
  /** Whether anybody has chosen a password yet. */
  readonly isClaimed: () => Promise<boolean>;
}

/** See {@link Surroundings.pointers}. */
export interface Pointers {
  readonly apiUrl: string | null;
  readonly smtp: { readonly host: string; readonly port: number } | null;
}

/** How far the installation is on the guided path. */
export interface FirstStepsBook {
  read(): Promise<FirstSteps>;
  skip(skipped: boolean): Promise<void>;
}

/** What `GET /api/session` says to someone with this session, who reaches us by this host name. */
export async function sessionView(
  found: Found | null,
  host: string,
  surroundings: Surroundings,
): Promise<SessionView> {
  const { version, idleMs, pointers, firstSteps, isClaimed } = surroundings;
  if (found === null) return { state: (await isClaimed()) ? 'anonymous' : 'setup' };
  if (found.session.stage === 'second_factor') return { state: 'second_factor' };
  return {
    state: 'signed_in',
    version,
    user: userView(found),
    idleMs: idleMs(),
    ...pointers(host),
    firstSteps: await firstSteps.read(),
  };
}

function userView({ user, session }: Found): SessionUser {
  const { name, role, secondFactor, recoveryCodesLeft } = user;
  return { name, role, secondFactor: secondFactor !== null, recoveryCodesLeft, session: session.id };
}
