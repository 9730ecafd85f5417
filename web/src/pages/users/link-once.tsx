import type { ResultOf } from '../../../../src/operations/table.ts';
import { Time } from '../../parts/values.tsx';
import { SecretOnce } from '../settings/keys/secret-once.tsx';

/** A link by which someone chooses a password, to be handed to them. */
export function LinkOnce({ link: { path, expiresAt } }: { readonly link: ResultOf<'setupLink'> }) {
  return (
    <div className="space-y-3">
      <SecretOnce secret={`${window.location.origin}${path}`} label="link" />
      <p className="text-soft">
        Hand it to them by a way that you trust. Whoever opens it chooses the password; it works once, and
        ends <Time at={expiresAt} />.
      </p>
    </div>
  );
}
