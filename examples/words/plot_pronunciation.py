"""
Pronunciation, letter by letter
===============================

Spanish is spelt almost as it is spoken, with rules that look at the next letters: *c* is [k] in *casa* and
[θ] in *cine*, *ll* is one sound, *h* is none. `AlignedSequences` finds out by itself which letters make which
sounds, learns the sound of a letter from its neighbours, and constructs pronunciations of words it has never
seen. A few dozen words are enough for most of the rules.
"""

# %%
# Words, and their sounds by the rules of a schoolbook. The model is not told the rules.

import re

import matplotlib.pyplot as plt
import numpy as np

from mercer import AlignedSequences

words = """casa cine queso guerra llave calle hijo huevo gato gente girar guitarra zapato cielo taza quince perro pero carro
caro rosa mano chico leche coche noche mucho llorar lluvia amarillo silla hablar hola ahora hora hacer cerca cinco once doce
trece queja quien aquel parque bosque saco vaca cama copa cubo cuna gota gusto agua goma mago lago pagar seguir pegar jugar
joven jamon rojo ojo caja bajo viejo mejor mujer jefe girasol gigante magia pagina coger proteger zorro zumo azul feliz luz paz
vez lapiz arroz brazo cabeza corazon plaza pozo rezar cazar vivir beber vino boca vaso beso cabra libro
pobre sobre nube""".split()
RULES = {"ch": "ʧ", "qu": "k", "gu(?=[ei])": "g", "g(?=[ei])": "x", "c(?=[ei])|z": "θ", "ll": "ʎ", "rr|^r": "R"}
RULES |= {"c": "k", "v": "b", "j": "x", "h": ""}


def sound(word):
    for letters, sounds in RULES.items():
        word = re.sub(letters, sounds, word)
    return word


rng = np.random.default_rng(0)
words = list(rng.permutation(sorted(set(words))))
sounds = [sound(word) for word in words]
test = slice(90, None)
model = AlignedSequences(held_out=15).fit(words[:90], sounds[:90])
for word, predicted, right in list(zip(words[test], model.predict(words[test]), sounds[test], strict=True))[:8]:
    print(f"{word:10} [{predicted}]" + ("" if predicted == right else f"   not [{right}]"))

# %%
# More words, fewer mistakes:

sizes = [20, 40, 60, 90]
shares = []
for size in sizes:
    learned = AlignedSequences(held_out=max(4, size // 6)).fit(words[:size], sounds[:size])
    shares.append(np.mean(learned.predict(words[test]) == np.array(sounds[test], dtype=object)))
fig, ax = plt.subplots(figsize=(5.5, 3), layout="constrained")
ax.bar([str(size) for size in sizes], shares, color="#2563a8")
ax.bar_label(ax.containers[0], fmt="{:.0%}")
ax.set(xlabel="words learned from", ylabel=f"right, of {len(words[test])} new words", ylim=(0, 1.05))
plt.show()
