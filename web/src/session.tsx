import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import type { SessionCalls, SessionView } from '../../src/dashboard/contract.ts';
import { type ApiError, get, sessionCall, whenSignedOut } from './api.ts';
import { type ActOptions, queryClient, useDoing } from './queries.ts';

/** A session of someone who is signed in. */
export type SignedIn = Extract<SessionView, { state: 'signed_in' }>;
/** What someone may do; each may do what those before it may. */
export type Role = SignedIn['user']['role'];

/** What each role is called. */
export const ROLE_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'Viewer',
  operator: 'Operator',
  admin: 'Administrator',
};
const RANKS: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };
const KEY = ['session'] as const;

/** Who asks, as the server sees it. */
export function useSessionView() {
  return useQuery<SessionView, ApiError>({
    queryKey: KEY,
    queryFn: ({ signal }) => get<SessionView>('/api/session', signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  });
}

/**
 * Takes what a call around signing in has answered. Another person's answers are forgotten. So is what is being asked about the
 * session meanwhile: only signing out says how to sign out of the provider, too.
 */
export function setSession(view: SessionView): void {
  void queryClient.cancelQueries({ queryKey: KEY });
  const before = queryClient.getQueryData<SessionView>(KEY);
  if (nameOf(before) !== nameOf(view))
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
  queryClient.setQueryData(KEY, view);
}

/** Asks the server again who it takes us for. */
export function refreshSession(): void {
  void queryClient.invalidateQueries({ queryKey: KEY });
}

// What was under way while somebody signed out is refused as well, and says nothing new.
whenSignedOut(() => {
  if (nameOf(queryClient.getQueryData(KEY)) !== null) refreshSession();
});

/** A call around signing in, as an act. */
export function useSessionAct<Name extends keyof SessionCalls>(
  name: Name,
  options: ActOptions<SessionCalls[Name]['answer']>,
) {
  return useDoing((request: SessionCalls[Name]['request']) => sessionCall(name, request), options);
}

function nameOf(view: SessionView | undefined): string | null {
  return view?.state === 'signed_in' ? view.user.name : null;
}

/** Gives the session to what it holds. */
export const SessionContext = createContext<SignedIn | null>(null);

/** The session; only inside pages, which are shown to those who are signed in. */
export function useSession(): SignedIn {
  const session = useContext(SessionContext);
  if (!session) throw new Error('A page was shown to nobody.');
  return session;
}

/** Whether the one who is signed in may do what is open from this role on. The server decides; this only hides. */
export function useMay(from: Role): boolean {
  return RANKS[useSession().user.role] >= RANKS[from];
}

/** Shows what it holds to those who may. */
export function IfMay({ role, children }: { role: Role; children: ReactNode }) {
  return useMay(role) ? children : null;
}
