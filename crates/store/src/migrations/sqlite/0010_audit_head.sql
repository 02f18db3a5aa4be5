-- How far the audit log reaches, so that a log that was cut off shows. The writer keeps it from now on.
INSERT INTO settings (key, value)
SELECT 'audit.head', seq || ' ' || hash FROM audit ORDER BY seq DESC LIMIT 1;
