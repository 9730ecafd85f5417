import { Send } from 'lucide-react';
import { ButtonLink } from '../../parts/button.tsx';
import { useMay } from '../../session.tsx';

/** Says what a relay is for, and leads to where one is added. */
export function RelayStep({ hasRelay }: { readonly hasRelay: boolean }) {
  const mayAdd = useMay('admin');
  return (
    <>
      <p>
        A relay hands mail on: to the mail server of your company, to a provider such as Amazon SES or
        Postmark, or straight to the recipients' own servers. Test it before mail goes through it.
      </p>
      {mayAdd ? (
        <ButtonLink look="primary" icon={Send} to="/relays" {...(!hasRelay && { search: { add: 'choose' } })}>
          {hasRelay ? 'To the relays' : 'Add a relay'}
        </ButtonLink>
      ) : (
        <p className="text-soft">An administrator adds relays.</p>
      )}
    </>
  );
}
