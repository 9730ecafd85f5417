import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** What an address says behind its `?`, on any page (`router.tsx`). */
export type Address = ReturnType<typeof useAddress>[0];

/** What the address says, and how to change that: it stays one step of the history. What is set to undefined leaves it. */
export function useAddress() {
  const search = useSearch({ strict: false });
  const navigate = useNavigate();
  const put = useCallback(
    (change: Partial<typeof search>) =>
      void navigate({ to: '.', search: (old) => ({ ...old, ...change }), replace: true, resetScroll: false }),
    [navigate],
  );
  return [search, put] as const;
}
