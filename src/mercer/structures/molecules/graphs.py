"""Molecules as graphs: atoms are nodes, bonds are edges."""

from __future__ import annotations

from typing import Any

from mercer.structures.graphs import networkx
from mercer.structures.molecules.fingerprints import is_molecule, molecule, rdkit

_ORDERS = {"SINGLE": 1, "DOUBLE": 2, "TRIPLE": 3, "AROMATIC": 1.5}


def molecular_graph(smiles: Any, kekulize: bool = True) -> Any:
    """Convert a SMILES or a molecule of rdkit to a graph: nodes labelled by element, edges by bond order, without hydrogen.

    A charge is an attribute of its node. With `kekulize` aromatic rings have bonds of order 1 and 2, otherwise of order 1.5.

    Examples
    --------
    >>> graph = molecular_graph("C=O")
    >>> dict(graph.nodes(data="label")), list(graph.edges(data="label"))
    ({0: 'C', 1: 'O'}, [(0, 1, 2)])
    """
    found = rdkit().Chem.Mol(smiles) if is_molecule(smiles) else molecule(smiles)
    if kekulize:
        rdkit().Chem.Kekulize(found, clearAromaticFlags=True)
    graph = networkx().Graph()
    for atom in found.GetAtoms():
        charge = {"charge": atom.GetFormalCharge()} if atom.GetFormalCharge() else {}
        graph.add_node(atom.GetIdx(), label=atom.GetSymbol(), **charge)
    for bond in found.GetBonds():
        order = _ORDERS.get(bond.GetBondType().name)
        if order is None:
            found = f"{smiles!r:.200}, with a bond of type {bond.GetBondType().name}"
            raise ValueError(f"smiles is {found}; expected single, double, triple or aromatic bonds")
        graph.add_edge(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), label=order)
    return graph


def graph_smiles(graph: Any) -> str:
    """Return the canonical SMILES of a graph as `molecular_graph` makes it; an error says why it is not a molecule.

    Examples
    --------
    >>> graph_smiles(molecular_graph("OCC"))
    'CCO'
    """
    chemistry = rdkit()
    made = chemistry.Chem.RWMol()
    number = {}
    for node, data in graph.nodes(data=True):
        if "label" not in data:
            raise ValueError(f"node {node!r} of graph has no attribute 'label'; expected its element, such as 'C'")
        atom = chemistry.Chem.Atom(data["label"])
        atom.SetFormalCharge(data.get("charge", 0))
        number[node] = made.AddAtom(atom)
    kinds = {order: getattr(chemistry.Chem.BondType, name) for name, order in _ORDERS.items()}
    for u, v, order in graph.edges(data="label"):
        if order not in kinds:
            raise ValueError(f"edge {(u, v)!r} of graph has label {order!r}; expected a bond order: 1, 1.5, 2 or 3")
        made.AddBond(number[u], number[v], kinds[order])
    try:
        with chemistry.rdBase.BlockLogs():
            chemistry.Chem.SanitizeMol(made)
    except ValueError as error:
        raise ValueError(f"graph is not a molecule: {error}") from error
    return chemistry.Chem.MolToSmiles(made)
