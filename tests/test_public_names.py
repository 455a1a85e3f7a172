"""What is there after `import mercer`."""

import subprocess
import sys

import mercer
from mercer import embeddings


def test_principal_components_are_at_hand():
    assert mercer.PrincipalComponents is embeddings.PrincipalComponents


def test_contracts_are_there_without_an_import_of_their_own():
    code = "import mercer; mercer.testing.check_kernel; assert 'pytest' not in __import__('sys').modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_all_names_exist():
    assert all(hasattr(mercer, name) for name in mercer.__all__)
