-- The worker's login, with the least rights it can work with. A password for this demo alone.
do $$ begin
  if not exists (select from pg_roles where rolname = 'worker') then
    create role worker login password 'demo-only' in role chat_provision_retry;
  end if;
end $$;
